"""The site: sphinx-build -c docs . build/site, or make docs.

The source folder is the repository, so that links between its pages are the same here and in any
viewer of Markdown.
"""

import re
from pathlib import Path
from typing import Any

from robustpu import __version__

project = "robustpu"
author = "The robustpu developers"
copyright = author
version = release = __version__
html_title = f"robustpu {__version__}"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "*.md",
    "benchmarks/README.md",
    "pretraining/README.md",
]
exclude_patterns = ["docs/_*", "docs/gallery/*.ipynb", "docs/gallery/*.py"]
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Pages begin with a heading of their own level where they are read on their own.
suppress_warnings = ["config.cache", "myst.header"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_show_inherited_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["docs/gallery"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "within_subsection_order": "ExampleTitleSortKey",
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "notebook_images": False,
    "abort_on_example_error": True,
}

# Absolute: autosummary looks below the source folder, the theme below that of this file.
templates_path = [str(Path(__file__).parent / "_templates")]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"docs/index": []}
html_additional_pages = {"index": "start.html"}
html_theme_options = {
    "logo": {"text": "robustpu"},
    "header_links_before_dropdown": 8,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


# Code, prompts of examples, and bars.
BAR = re.compile(r"``.*?``|>>> .*|\|")


def escape_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show |x| of a formula as it is: to Sphinx it would be the name of a substitution."""
    lines[:] = [
        BAR.sub(lambda found: r"\|" if found[0] == "|" else found[0], line) for line in lines
    ]


def skip_requests(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """Leave out set_fit_request and the like, which scikit-learn writes and describes."""
    return skip or (name.startswith("set_") and name.endswith("_request"))


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("autodoc-skip-member", skip_requests)

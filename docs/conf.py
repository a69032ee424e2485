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


class ReadingOrder:
    """The order of the examples: from a table like that of most users to parts of one's own."""

    ORDER = (
        *("fraud.py", "churn.py", "from_naive_to_pu.py", "text.py", "check_rows.py"),
        *("sightings.py", "images.py", "grid_search.py", "own_network.py", "own_hardness.py"),
    )

    def __init__(self, folder: str) -> None:
        """Sphinx-Gallery calls this for each folder."""

    def __call__(self, name: str) -> int:
        return self.ORDER.index(name)


sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["docs/gallery"],
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "within_subsection_order": ReadingOrder,
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


# Pages that docstrings name.
PAGE = re.compile(r"docs/([a-z_/]+)\.md")
# Code, prompts of examples, and bars.
BAR = re.compile(r"``.*?``|>>> .*|\|")


def mend_lines(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show |x| of a formula as it is, not as a substitution; link the pages that are named."""
    for at, line in enumerate(lines):
        line = BAR.sub(lambda found: r"\|" if found[0] == "|" else found[0], line)
        lines[at] = PAGE.sub(r":doc:`/docs/\1`", line)


def skip_requests(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """Leave out set_fit_request and the like, which scikit-learn writes and describes."""
    return skip or (name.startswith("set_") and name.endswith("_request"))


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", mend_lines)
    app.connect("autodoc-skip-member", skip_requests)

"""Check where the output of a command goes, before the work and not after it."""

import contextlib
from pathlib import Path

import typer

PICTURES = (".png", ".svg", ".pdf", ".jpg")


def check_output(out: str | None, data: str, as_json: bool) -> None:
    """Refuse two documents on standard output, and overwriting the input.

    Parameters
    ----------
    out, data, as_json
        Of the options.
    """
    if out == "-" and as_json:
        raise typer.BadParameter(
            "--json and --out - both print on standard output: leave one of them out, or give "
            "--out a file name."
        )
    if out is None or "-" in (out, data):
        return
    with contextlib.suppress(OSError, ValueError):
        if Path(out).samefile(data):
            raise typer.BadParameter(f"--out {out} is the table itself: give another name.")


def check_picture(picture: Path) -> None:
    """Refuse a picture that cannot be written.

    Parameters
    ----------
    picture
        The file.

    Raises
    ------
    ValueError
        Unknown format.
    OSError
        Nothing can be written there.

    Examples
    --------
    >>> check_picture(Path("prior.doc"))
    Traceback (most recent call last):
    ValueError: prior.doc: unknown format. The name must end in .png, .svg, .pdf, .jpg.
    """
    from robustpu.persist.places import check_file

    if picture.suffix.lower() not in PICTURES:
        raise ValueError(f"{picture}: unknown format. The name must end in {', '.join(PICTURES)}.")
    check_file(picture)


def check_matplotlib() -> None:
    """Refuse pictures if matplotlib is not installed.

    Raises
    ------
    ModuleNotFoundError
        It is an extra.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError(
            "pictures are drawn with matplotlib, which is not installed: "
            "pip install 'robustpu[plot]'"
        )

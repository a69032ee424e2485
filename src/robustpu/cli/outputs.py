"""Where the output of a command goes: refused before the work, not after it."""

import contextlib
from pathlib import Path

import typer

PICTURES = (".png", ".svg", ".pdf", ".jpg")


def check_output(out: str | None, data: str, as_json: bool) -> None:
    """Refuse two things on standard output, and to write over what is read.

    Parameters
    ----------
    out, data, as_json
        Of the options.
    """
    if out == "-" and as_json:
        raise typer.BadParameter(
            "--json and --out - both print on standard output: leave one of them out, or give "
            "--out the name of a file."
        )
    if out is None or "-" in (out, data):
        return
    with contextlib.suppress(OSError, ValueError):
        if Path(out).samefile(data):
            raise typer.BadParameter(f"--out {out} is the table itself: give another name.")


def check_picture(picture: Path) -> None:
    """Say now, not after the work, that a picture cannot be written.

    Parameters
    ----------
    picture
        The file to be.

    Raises
    ------
    ValueError
        The format is not known.
    OSError
        Nothing can be written there.

    Examples
    --------
    >>> check_picture(Path("prior.doc"))
    Traceback (most recent call last):
    ValueError: prior.doc: a picture is drawn as its name ends, expected .png, .svg, .pdf, .jpg.
    """
    from robustpu.persist.places import check_file

    if picture.suffix.lower() not in PICTURES:
        raise ValueError(
            f"{picture}: a picture is drawn as its name ends, expected {', '.join(PICTURES)}."
        )
    check_file(picture)


def check_matplotlib() -> None:
    """Say now, not after the work, that what draws pictures is not installed.

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

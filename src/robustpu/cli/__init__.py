"""The command line. The commands themselves are imported when they are asked for."""

import io
import os
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the command line."""
    try:
        _open_all()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal or pipe that cannot show a sign gets a question mark, not an error.
                stream.reconfigure(errors="replace")
        from robustpu.cli.commands import app

        app()
    except KeyboardInterrupt:
        # Before the command began, or after its end: there is nothing to clean up.
        os.write(2, b"Stopped.\n")
        raise SystemExit(130) from None


def _open_all() -> None:
    """Have something behind the numbers 0, 1 and 2, or a file of ours would get one of them."""
    is_closed = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free: this one.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if is_closed:
        os.write(2, b"Error: standard output is closed. Send it somewhere, such as to a file.\n")
        raise SystemExit(1)


def __getattr__(name: str) -> Any:
    if name == "app":
        from robustpu.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

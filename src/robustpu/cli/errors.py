"""One line and an exit code for all that a user can cause."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from robustpu.unseen import shown

EXIT_CODES = (
    "Exit codes: 0 done; 1 something is wrong with the input, and the message says what to do; "
    "2 the command was not understood; 70 a fault of this program; 130, 143 interrupted, told to "
    "end; 141 nobody reads the output any more."
)


@contextmanager
def clean_errors(debug: bool = False) -> Iterator[None]:
    """Say what a user can mend in one line, and end with the exit code that tells what it was.

    Parameters
    ----------
    debug
        Whether to let errors through as they are.
    """
    came: list[int] = []
    try:
        with _ends_cleanly(came):
            yield
    except KeyboardInterrupt:
        _stop()
    except BrokenPipeError:
        # Whoever read the output has had enough; Python would complain when it flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(141) from None
    except SystemExit as error:
        # Rich has noticed it first, and has its own code for it.
        if isinstance(error.__context__, BrokenPipeError):
            raise typer.Exit(141) from None
        raise
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort) or type(error).__module__.startswith(
            ("click", "typer")
        ):
            raise
        if signal.SIGINT in came:
            # Some libraries make another error of it while they are imported.
            _stop()
        _end(*_judged(error), debug)


def _stop() -> NoReturn:
    typer.echo("Stopped.", err=True)
    raise typer.Exit(130) from None


def _judged(error: Exception) -> tuple[str, int]:
    """What to say about an error, and the exit code."""
    if isinstance(error, OSError):
        return _told(error), 1
    if isinstance(error, ValueError | ModuleNotFoundError):
        return str(error), 1
    if isinstance(error, MemoryError):
        return "there is not enough memory. Take fewer rows, or columns.", 1
    return (
        f"unforeseen: {type(error).__name__}: {error}. That is a fault of robustpu, not yours: run "
        "it again with --debug, and report what it shows.",
        70,
    )


def _told(error: OSError) -> str:
    """What the system says, without its number; ours say all that is to be said."""
    if error.errno is None:
        return str(error)
    what = "the disk is full" if error.errno == errno.ENOSPC else str(error.strerror)
    return f"{error.filename}: {what}." if error.filename is not None else f"{what}."


def _end(message: str, code: int, debug: bool) -> NoReturn:
    if debug:
        raise
    lines = "\n".join(map(shown, message.splitlines()))
    typer.echo(f"Error: {lines}", err=True)
    raise typer.Exit(code) from None


@contextmanager
def _ends_cleanly(came: list[int]) -> Iterator[None]:
    """Let a polite request to end, as schedulers send it, run what cleans up; note what came."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> NoReturn:
        came.append(number)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    # A terminal that is closed; nohup has it ignored, and so it stays. Windows has none.
    hung_up = getattr(signal, "SIGHUP", None)
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    if hung_up is not None and signal.getsignal(hung_up) != signal.SIG_IGN:
        numbers.append(hung_up)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

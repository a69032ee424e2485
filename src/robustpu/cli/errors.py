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

from robustpu.validation.sanitize import shown

EXIT_CODES = (
    "Exit codes: 0 done; 1 something is wrong with the input, and the message says what to do; "
    "2 the command was not understood; 70 a bug in this program; 130, 143 interrupted, terminated; "
    "141 the output was closed."
)


@contextmanager
def clean_errors(debug: bool = False) -> Iterator[None]:
    """Report errors in one line, and exit with the code of their kind.

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
        # The reader of the output is gone; Python would complain when it flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(141) from None
    except SystemExit as error:
        # Rich noticed it first, and exits with another code.
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
        _end(*_message(error), debug)


def _stop() -> NoReturn:
    typer.echo("Stopped.", err=True)
    raise typer.Exit(130) from None


def _message(error: Exception) -> tuple[str, int]:
    """The message of an error, and the exit code."""
    if isinstance(error, OSError):
        return _system_message(error), 1
    if isinstance(error, ValueError | ModuleNotFoundError):
        return str(error), 1
    if isinstance(error, MemoryError):
        return "there is not enough memory. Take fewer rows, or columns.", 1
    return (
        f"unexpected {type(error).__name__}: {error}. This is a bug in robustpu: run it again with "
        "--debug, and report what it shows.",
        70,
    )


def _system_message(error: OSError) -> str:
    """The message of the system, without its number; ours are complete."""
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
    """Clean up when asked to end, as schedulers do; record the signals that came."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> NoReturn:
        came.append(number)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    # The terminal was closed; under nohup it stays ignored. Windows does not have it.
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

"""Frames with columns of text, where numbers are expected."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

# What numpy and pandas say where text, or a category of texts, is no number.
CONVERSION: Final = ("could not convert string", "Cannot cast")


def text_columns(X: Any, *, categories: bool = True) -> list[str]:
    """Names of the columns of a pandas frame that hold text or objects; none of other rows.

    Parameters
    ----------
    X
        Rows.
    categories
        Whether to name columns of categories, too.
    """
    if not hasattr(X, "select_dtypes"):
        return []
    # Categories are of the kind "O" as well.
    kinds = X.dtypes.items()
    return [
        repr(name)
        for name, kind in kinds
        if kind.kind in "OU" and (categories or str(kind) != "category")
    ]


def needs_numbers(names: str) -> str:
    """What is said of columns of text where a method takes numbers."""
    return (
        f"X has columns of text: {names}. Make numbers of them with "
        "robustpu.tables.Vectorizer; PUClassifier and robustpu fit do so by themselves."
    )


@contextmanager
def naming_text(
    X: Any, say: Callable[[str], str] = needs_numbers, *, categories: bool = True
) -> Iterator[None]:
    """Name the columns of text where their conversion to numbers fails.

    Parameters
    ----------
    X
        Rows.
    say
        The message, of the names.
    categories
        As in :func:`text_columns`.

    Examples
    --------
    >>> import pandas as pd
    >>> with naming_text(frame := pd.DataFrame({"town": ["Bern"], "age": [3]})):
    ...     frame.to_numpy(dtype=float)
    Traceback (most recent call last):
    ValueError: X has columns of text: 'town'. Make numbers of them with...
    """
    try:
        yield
    except ValueError as error:
        names = text_columns(X, categories=categories)
        if not names or not any(words in str(error) for words in CONVERSION):
            raise
        raise ValueError(say(", ".join(names))) from error

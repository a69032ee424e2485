"""One kind of error for all that can be wrong with a table."""


class TableError(ValueError):
    """A table cannot be read or used; the message says what came, what was expected, what to do."""


class TableWarning(UserWarning):
    """A table differs from the one that was fitted, and can be used all the same."""


def shown(value: object, most: int = 40) -> str:
    """Text for a message: a value in quotes, cut where it is long.

    Examples
    --------
    >>> shown("a" * 100, most=5)
    "'aaaaa…'"
    """
    text = str(value)
    return repr(text if len(text) <= most else text[:most] + "…")


def many(count: int, noun: str) -> str:
    """Text for a message: a number of things.

    Examples
    --------
    >>> many(1, "row"), many(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def listed(values: list[str], most: int = 5) -> str:
    """Text for a message: some values in quotes, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    some = ", ".join(shown(value) for value in values[:most])
    return some + (f" and {len(values) - most:,} more" if len(values) > most else "")

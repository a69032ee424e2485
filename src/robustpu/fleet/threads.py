"""How many threads a step is worth."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

# Products of numbers in a step on a processor. Of fewer, a second thread saves little where the
# machine is idle, and where another program runs it waits for the first most of the time: a fit
# of 1,200 rows then took seven times as long.
WORTH = 1 << 26


@contextmanager
def threads_for(products: int) -> Iterator[None]:
    """One thread for small steps, as many as there are for others.

    Parameters
    ----------
    products
        In a step: parameters times rows.

    Examples
    --------
    >>> with threads_for(1000):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    if products >= WORTH or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

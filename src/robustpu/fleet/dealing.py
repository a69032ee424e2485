"""The rows of an epoch, dealt out to its steps: many steps' inputs are read at once."""

import math
from collections.abc import Generator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from robustpu.fleet.lane import Partners, Rations
from robustpu.fleet.pool import Mapped, Pool, ahead

# Bytes of inputs that are read at once, and of what it takes to find a row, which counts as well.
# Two such pieces are in memory: one that is trained on, and the next.
PIECE = 1 << 26
PLACE = 64


def dealt(
    pool: Pool, rations: Rations, steps: Sequence[slice]
) -> Generator[tuple[Tensor, Rations, Sequence[slice]]]:
    """Inputs, the rations that count rows of these inputs, and the steps that they are for.

    Parameters
    ----------
    pool
        A tensor serves all steps as it is. Of a mapped pool as many steps are served at a time as
        have 64 MB of inputs.
    rations
        Of the whole epoch.
    steps
        Which of them each step gets.

    Examples
    --------
    >>> index = torch.tensor([[2, 0, 1]])
    >>> rations = Rations(index, index == 0, torch.ones(1, 3), {}, None)
    >>> pool = torch.tensor([[7.0], [8.0], [9.0]])
    >>> for x, own, (first, last) in dealt(pool, rations, [slice(0, 2), slice(2, 3)]):
    ...     x[own.index[:, first]].flatten().tolist()
    [9.0, 7.0]
    """
    if isinstance(pool, Tensor):
        yield pool, rations, steps
        return
    pieces = _pieces(pool, rations, steps)
    spans = [slice(own[0].start, own[-1].stop) for own in pieces]
    # On the host at once: a reader that asked the GPU would wait for all steps before.
    index = _wanted(rations).cpu()
    read = ahead(pool, (index[..., span] for span in spans))
    for (x, place), span, piece in zip(read, spans, pieces, strict=True):
        own = rations.part(slice(None), span)
        own = replace(own, index=place[0])
        if own.partners is not None:
            own = replace(own, partners=Partners(place[1], own.partners.share))
        yield x, own, [slice(step.start - span.start, step.stop - span.start) for step in piece]


def _wanted(rations: Rations) -> Tensor:
    """Row numbers of an epoch, (1, members, rows), or (2, ...) with partners."""
    if rations.partners is None:
        return rations.index[None]
    return torch.stack([rations.index, rations.partners.index])


def _pieces(pool: Mapped, rations: Rations, steps: Sequence[slice]) -> list[Sequence[slice]]:
    """Runs of steps whose inputs are within bounds, or that are one step."""
    kinds = 1 if rations.partners is None else 2
    size = math.prod(pool.shape[1:]) * pool.dtype.itemsize + PLACE
    size *= len(rations.index) * kinds
    widest = max(step.stop - step.start for step in steps)
    together = max(1, PIECE // (size * widest))
    return [steps[first : first + together] for first in range(0, len(steps), together)]

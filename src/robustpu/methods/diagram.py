"""How ensembles look in a notebook: their members side by side, with their weights."""

from collections.abc import Sequence
from typing import Any

from sklearn.ensemble import VotingClassifier


def side_by_side(
    names: Sequence[str], members: Sequence[Any], weights: Sequence[float] | None = None
) -> Any:
    """What scikit-learn draws of an ensemble, for ``_sk_visual_block_``.

    Parameters
    ----------
    names, members
        Of the ensemble; at least one.
    weights
        Known after a fit.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> side_by_side(["linear"], [LogisticRegression()], [0.25]).names
    ('linear, weight 0.25',)
    """
    if weights is not None:
        pairs = zip(names, weights, strict=True)
        names = [f"{name}, weight {weight:.2g}" for name, weight in pairs]
    # The class of the block has no public name, and has moved from version to version.
    return VotingClassifier(list(zip(names, members, strict=True)))._sk_visual_block_()

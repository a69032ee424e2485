"""Short text: words and pairs of words, weighed by how rare they are, in a few dimensions."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustpu.tables.cells import Cells
from robustpu.tables.plan import count_missing, count_unread
from robustpu.tables.tally import Tally
from robustpu.tables.texts import Coded
from robustpu.tables.words import BUCKETS, count_words
from robustpu.validation.arrays import array

# Different texts that the directions are learnt from.
MOST: Final = 20_000
# Different texts that there must be for each direction.
TEXTS_EACH: Final = 5
# Buckets that are used at most, the most frequent ones; a word that comes in one text goes along
# with no other.
VOCABULARY: Final = 1 << 14
LEAST: Final = 2
# The strongest directions, one in a column each.
APART: Final = 16


@dataclass(frozen=True)
class TextPlan:
    """normalised((1 + log counts of words) * idf) @ components, length, and 1 where missing.

    What scikit-learn's HashingVectorizer, TfidfTransformer and TruncatedSVD do, one after another.
    The strongest directions have columns of their own, which suits trees. All of them follow in a
    random rotation: every column of it varies alike, so learners that standardise columns leave
    distances between texts as they are, and do not blow up weak directions.

    Attributes
    ----------
    buckets
        The buckets that are used, ascending, shape (m,).
    idf
        Weight of each, shape (m,).
    components
        Directions, shape (dimensions, m).
    has_missing
        Whether there is a feature for missing texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = Coded(np.arange(10), pa.array([f"car {place % 5}!" for place in range(10)]))
    >>> learn_text(texts, n_components=50, random_state=0).endings()
    [': text 1', ': text 2', ': length']
    """

    buckets: Annotated[NDArray[np.int64], array("iu", ("m",), 0, BUCKETS - 1)]
    idf: Annotated[NDArray[np.float64], array("f", ("m",))]
    components: Annotated[NDArray[np.float32], array("f", (None, "m"))]
    has_missing: bool
    kind: Literal["text"] = "text"

    def endings(self) -> list[str]:
        """See `Plan`."""
        dimensions = [f": text {place}" for place in range(1, len(self.components) + 1)]
        return [*dimensions, ": length"] + [" is missing"] * self.has_missing

    def encode(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.float32]:
        """See `Plan`."""
        text = cells.text
        if cells.family == "other":
            count_unread(name, self.kind, cells, tally)
        elif len(text.values):
            tally.read(name)
        is_missing = text.codes < 0
        if not self.has_missing:
            count_missing(name, is_missing, "an empty text", tally)
        counted = count_words(text.values)[:, self.buckets]
        dimensions = _weighed(counted, self.idf) @ self.components.T
        lengths = np.asarray(pc.utf8_length(text.values), np.float64)
        values = np.column_stack([dimensions, lengths])
        rows = np.vstack([values, np.zeros((1, values.shape[1]))])[text.codes]
        columns = [rows] + [is_missing[:, None]] * self.has_missing
        return np.concatenate(columns, axis=1).astype(np.float32)


def learn_text(text: Coded, n_components: int, random_state: int) -> TextPlan:
    """The plan of a column.

    Parameters
    ----------
    text
        Its texts.
    n_components
        Directions, or fewer if there are not as many different texts.
    random_state
        Seed of the decomposition and of the rotation.
    """
    step = max(1, -(-len(text.values) // MOST))
    counted = count_words(text.values.take(np.arange(0, len(text.values), step)))
    in_texts = np.bincount(counted.indices, minlength=BUCKETS)
    buckets = np.argsort(-in_texts, kind="stable")[:VOCABULARY]
    buckets = np.sort(buckets[in_texts[buckets] >= LEAST])
    idf = np.log((1 + counted.shape[0]) / (1 + in_texts[buckets])) + 1
    k = max(1, min(n_components, counted.shape[0] // TEXTS_EACH, len(buckets)))
    # A single word is the only direction there is.
    components = np.ones((k, len(buckets)), np.float32)
    if len(buckets) > 1:
        components = _directions(_weighed(counted[:, buckets], idf), k, random_state)
    return TextPlan(buckets, idf, components, bool((text.codes < 0).any()))


def _directions(weighed: Any, k: int, random_state: int) -> NDArray[np.float32]:
    """The strongest of k directions, and if there are others all in a rotation, (dimensions, m)."""
    from sklearn.decomposition import TruncatedSVD

    # Texts that are all alike have no variance to be shared out.
    with np.errstate(invalid="ignore", divide="ignore"):
        found = TruncatedSVD(k, random_state=random_state).fit(weighed).components_
    if k > APART:
        drawn = np.random.default_rng(random_state).normal(size=(k, k))
        found = np.vstack([found[:APART], np.linalg.qr(drawn)[0] @ found])
    directions: NDArray[np.float32] = found.astype(np.float32)
    return directions


def _weighed(counted: Any, idf: NDArray[np.float64]) -> Any:
    from sklearn.preprocessing import normalize

    if 0 in counted.shape:
        return counted
    # In long texts a word that comes ten times does not tell ten times as much.
    damped = counted.copy()
    damped.data = 1 + np.log(damped.data)
    return normalize(damped.multiply(idf[None, :]).tocsr(), copy=False)

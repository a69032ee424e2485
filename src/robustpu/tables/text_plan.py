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

# Different texts that the dimensions are learnt from.
MOST: Final = 20_000
# Different texts that there must be for each dimension.
TEXTS_EACH: Final = 5


@dataclass(frozen=True)
class TextPlan:
    """normalised((1 + log counts of words) * idf) @ components, length, and 1 where missing.

    What scikit-learn's HashingVectorizer, TfidfTransformer and TruncatedSVD do, one after another.

    Attributes
    ----------
    idf
        Weight of each bucket, shape (buckets,).
    components
        Directions, shape (dimensions, buckets).
    has_missing
        Whether there is a feature for missing texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = Coded(np.arange(10), pa.array([f"car {place}" for place in range(10)]))
    >>> learn_text(texts, n_components=16, random_state=0).endings()
    [': text 1', ': text 2', ': length']
    """

    idf: Annotated[NDArray[np.float64], array("f", (BUCKETS,))]
    components: Annotated[NDArray[np.float32], array("f", (None, BUCKETS))]
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
        dimensions = _weighed(count_words(text.values), self.idf) @ self.components.T
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
        Dimensions, or fewer if there are not as many different texts.
    random_state
        Seed of the decomposition.
    """
    from sklearn.decomposition import TruncatedSVD

    step = max(1, -(-len(text.values) // MOST))
    some = text.values.take(np.arange(0, len(text.values), step))
    counted = count_words(some)
    in_texts = np.bincount(counted.indices, minlength=BUCKETS)
    idf = np.log((1 + counted.shape[0]) / (1 + in_texts)) + 1
    used = np.flatnonzero(in_texts)
    k = max(1, min(n_components, counted.shape[0] // TEXTS_EACH, len(used)))
    components = np.zeros((k, BUCKETS), np.float32)
    if len(used):
        # Buckets without words would only make it slow.
        weighed = _weighed(counted, idf)[:, used]
        # Texts that are all alike have no variance to be shared out.
        with np.errstate(invalid="ignore", divide="ignore"):
            decomposition = TruncatedSVD(k, random_state=random_state).fit(weighed)
        components[:, used] = decomposition.components_
    return TextPlan(idf.astype(np.float64), components, bool((text.codes < 0).any()))


def _weighed(counted: Any, idf: NDArray[np.float64]) -> Any:
    from sklearn.preprocessing import normalize

    if not counted.shape[0]:
        return counted
    # In long texts a word that comes ten times does not tell ten times as much.
    damped = counted.copy()
    damped.data = 1 + np.log(damped.data)
    return normalize(damped.multiply(idf[None, :]).tocsr(), copy=False)

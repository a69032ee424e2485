"""Counts of words and pairs of words, hashed into buckets: no list of words has to be kept."""

from typing import Any, Final

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

BUCKETS: Final = 1 << 18
# Odd, so that no bit of the first word's hash is lost.
MULTIPLIER: Final = 0x9E3779B1


def count_words(texts: Any) -> Any:
    """How often each bucket's words and pairs of neighbours are in each text, sparse.

    Single words are counted as scikit-learn's HashingVectorizer counts them, but all texts at a
    time: each different word is hashed once.

    Parameters
    ----------
    texts
        Arrow array, none missing, shape (n,).

    Returns
    -------
    counts
        scipy.sparse.csr_array, shape (n, buckets).

    Examples
    --------
    >>> import pyarrow as pa
    >>> count_words(pa.array(["Red car, red house", ""])).sum(axis=1).tolist()
    [7.0, 0.0]
    """
    from scipy.sparse import csr_array

    words, rows = split_words(texts)
    encoded = words.dictionary_encode()
    hashes = _hashes(encoded.dictionary)[np.asarray(encoded.indices)]
    is_pair = rows[1:] == rows[:-1]
    pairs = (hashes[:-1][is_pair] * MULTIPLIER + hashes[1:][is_pair]) & 0xFFFFFFFF
    buckets = np.concatenate([hashes % BUCKETS, pairs % BUCKETS])
    places = np.concatenate([rows, rows[1:][is_pair]])
    ones = np.ones(len(buckets))
    return csr_array((ones, (places, buckets)), shape=(len(texts), BUCKETS))


def split_words(texts: Any) -> tuple[Any, NDArray[np.int64]]:
    """(words without capitals and accents, the row that each comes from).

    Parameters
    ----------
    texts
        Arrow array, none missing, shape (n,).

    Examples
    --------
    >>> import pyarrow as pa
    >>> words, rows = split_words(pa.array(["Red car", "café"]))
    >>> words.to_pylist(), rows.tolist()
    (['red', 'car', 'cafe'], [0, 0, 1])
    """
    plain = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKD"))
    plain = pc.replace_substring_regex(plain, r"\pM", "")
    lists = pc.split_pattern_regex(plain, r"[^\pL\pN_]+")
    words = pc.list_flatten(lists)
    rows = np.repeat(np.arange(len(texts)), np.asarray(pc.list_value_length(lists)))
    is_word = pc.not_equal(words, "")
    return words.filter(is_word), rows[np.asarray(is_word)]


def _hashes(words: Any) -> NDArray[np.uint64]:
    from sklearn.utils import murmurhash3_32

    found = [abs(murmurhash3_32(word, seed=0)) for word in words.to_pylist()]
    return np.array(found, dtype=np.uint64)

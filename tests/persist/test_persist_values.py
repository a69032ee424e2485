"""Plain values come back from JSON and safetensors as they were."""

import json
import math

import numpy as np
import pytest
from folders import same
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from robustpu import ModelFolderError
from robustpu.persist import arrays
from robustpu.persist.forests import check_children
from robustpu.persist.values import Decoder, Encoder, escaped, refuse
from robustpu.validation.arrays import array
from robustpu.validation.schema import Place, SchemaError, number


def plain_only(encoder, value, path):
    refuse(path, "not plain")


def there_and_back(value):
    """Through the text of a JSON file, and the bytes of a safetensors file."""
    encoder = Encoder(plain_only)
    node = encoder.encode(value, "x")
    stored = arrays.from_bytes(arrays.to_bytes(encoder.arrays))
    decoder = Decoder(stored, {}, {})
    answer = decoder.decode(json.loads(json.dumps(node, allow_nan=False)), "x")
    assert not decoder.arrays
    return answer


NUMBERS = arrays_of.arrays(
    st.sampled_from(["?", "i1", "i4", "i8", "u1", "u8", "f2", "f4", "f8"]),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(),
    st.text(max_size=9),
    st.floats(width=32).map(np.float32),
    st.integers(0, 255).map(np.uint8),
    st.booleans().map(np.bool_),
    NUMBERS,
    st.lists(st.text(max_size=5), min_size=1, max_size=3).map(
        lambda texts: np.array(texts, object)
    ),
)
KEYS = st.one_of(st.text(max_size=3), st.just("$"), st.integers(0, 9))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(
            st.one_of(st.text(max_size=3), st.just("$"), st.integers(0, 9)), inner, max_size=3
        ),
    ),
    max_leaves=8,
)


class TestPlainValues:
    @settings(max_examples=150, deadline=None)
    @given(VALUES)
    def test_come_back(self, value):
        assert same(there_and_back(value), value)

    def test_arrays_of_other_orders_come_back_in_ours(self):
        one = np.arange(6, dtype=">f8").reshape(2, 3).T[::-1]
        assert same(there_and_back(one), np.array(one, dtype="f8", order="C"))

    def test_texts_keep_their_type(self):
        for texts in (
            np.array(["a", "bcd"]),
            np.array(["a"], dtype="U9"),
            np.array("x", dtype="U3"),
        ):
            assert there_and_back(texts).dtype == texts.dtype

    @pytest.mark.parametrize(
        "value",
        [{1, 2}, 1j, b"x", 2**64, object(), np.array([1j]), np.array([None]), np.longdouble(1),
         np.datetime64("2020-01-01"), range(3)],
    )  # fmt: skip
    def test_others_are_refused(self, value):
        with pytest.raises(ModelFolderError, match=r"model.json: x"):
            there_and_back([value])

    def test_deep_ones_are_refused(self):
        value = []
        value.append(value)
        with pytest.raises(ModelFolderError, match="nested more than 50 deep"):
            there_and_back(value)

    def test_no_two_paths_are_one(self):
        value = {"a/b": np.zeros(1), "a": {"b": np.ones(1)}, "a~1b": np.full(1, 2.0)}
        assert same(there_and_back(value), value)
        assert len({escaped(key) for key in ("a/b", "a~1b", "a~0b", "a~b")}) == 4


class TestExpectations:
    def test_letters_have_to_agree(self):
        place = Place("x")
        read = array("f", ("n", "d", 2))
        assert read(np.zeros((3, 4, 2)), place).shape == (3, 4, 2)
        assert place.sizes == {"n": 3, "d": 4}
        with pytest.raises(SchemaError, match="where n is 3"):
            read(np.zeros((2, 4, 2)), place)
        with pytest.raises(SchemaError, match=r"not \('n', 'd', 2\)"):
            read(np.zeros((3, 4, 1)), place)

    @pytest.mark.parametrize(
        "value", [math.nan, math.inf, -1, 2, True, "1", None, np.float64("nan")]
    )
    def test_numbers(self, value):
        with pytest.raises(SchemaError):
            number(0, 1)(value, Place("x"))

    def test_numbers_that_are_fine(self):
        assert number(0, 1)(np.float64(1), Place("x")) == 1
        assert math.isnan(number(finite=False)(math.nan, Place("x")))
        assert number(whole=True)(np.int64(3), Place("x")) == 3
        with pytest.raises(SchemaError):
            number(whole=True)(3.0, Place("x"))

    def test_infinite_numbers_in_arrays(self):
        with pytest.raises(SchemaError, match="x holds infinite numbers"):
            array("f", ("n",))(np.array([math.inf]), Place("x"))
        scores = np.array([math.nan, 0.5])
        assert array("f", ("n",), finite=False)(scores, Place("x")) is scores
        with pytest.raises(SchemaError, match="not from 0 to 1"):
            array("f", ("n",), 0, 1, finite=False)(np.array([2.0, math.nan]), Place("x"))


class TestTrees:
    def grow(self, draw):
        """A random tree: children of a random leaf are appended."""
        left, right = [-1], [-1]
        for _ in range(draw.integers(0, 12)):
            leaf = draw.choice(np.flatnonzero(np.array(left) < 0))
            left[leaf], right[leaf] = len(left), len(left) + 1
            left += [-1, -1]
            right += [-1, -1]
        return np.array(left), np.array(right)

    def test_are_trees(self):
        draw = np.random.default_rng(0)
        for _ in range(50):
            left, right = self.grow(draw)
            depth = check_children(left, right, np.array([0, len(left)]), "x")

            def below(node, left=left, right=right):
                if left[node] < 0:
                    return 0
                return 1 + max(below(left[node]), below(right[node]))

            assert depth == below(0)

    def test_a_ring_is_no_tree(self):
        # 0 is a leaf; 1 and 2 are each other's child, so every other node has one parent.
        left, right = np.array([-1, 2, 1, -1, -1]), np.array([-1, 3, 4, -1, -1])
        with pytest.raises(ModelFolderError, match="before their parent"):
            check_children(left, right, np.array([0, 5]), "x")

    def test_one_other_child_makes_it_none(self):
        draw = np.random.default_rng(1)
        for _ in range(200):
            left, right = self.grow(draw)
            if len(left) == 1:
                continue
            place = draw.integers(len(left))
            new = draw.integers(-2, len(left) + 2)
            if new == left[place]:
                continue
            left[place] = new
            with pytest.raises(ModelFolderError):
                check_children(left, right, np.array([0, len(left)]), "x")

"""Rows that may be larger than memory: block by block, as numpy has them whole."""

import os
from itertools import pairwise

import numpy as np
import pytest

from robustpu.modules import rows as room
from robustpu.modules import scale_of
from robustpu.modules.rows import (
    column_sums,
    extremes,
    in_order,
    inputs_of,
    is_mapped,
    runs,
    some_of_each,
)

KINDS = [np.float64, np.float32, np.float16, np.uint8, np.int64, np.bool_, ">f4"]


@pytest.fixture
def saved(tmp_path):
    """A function that lays an array out in a file, and maps it."""

    def save(array, name="rows"):
        np.save(tmp_path / f"{name}.npy", array)
        return np.load(tmp_path / f"{name}.npy", mmap_mode="r")

    return save


@pytest.fixture(params=[7, 1 << 18], ids=["small blocks", "one block"])
def _blocks(request, monkeypatch):
    monkeypatch.setattr(room, "BLOCK", request.param)


class TestMapped:
    def test_maps_and_their_views(self, saved):
        X = saved(np.zeros((6, 2, 3)))
        assert isinstance(X, np.memmap)
        for array in (X, np.asarray(X), X[2:], X[::2], X[:, :1], np.asarray(X)[1:4]):
            assert is_mapped(array)

    def test_what_is_in_memory_or_scattered(self, saved):
        X = saved(np.zeros((6, 4)))
        for array in (np.array(X), X.copy(), X + 1, X[[1, 2]], X.T, X[::-1], X[:, ::2], [[1.0]], 3):
            assert not is_mapped(array)
        assert not is_mapped(saved(np.asfortranarray(np.zeros((6, 4))), "other"))
        assert not is_mapped(X[0, 0])

    def test_order(self):
        X = np.zeros((5, 2, 3))
        assert in_order(X[:, :1])
        assert in_order(X[:1, :1])
        assert not in_order(X.swapaxes(1, 2))
        assert not in_order(np.broadcast_to(X[:1], X.shape))


@pytest.mark.usefixtures("_blocks")
class TestSums:
    """To the bit: otherwise a fit on a map would not be the fit on the array."""

    @pytest.mark.parametrize("kind", KINDS, ids=str)
    @pytest.mark.parametrize("shape", [(1, 3), (2, 2), (9, 1), (501, 4), (300, 17)])
    def test_as_numpy_has_them(self, kind, shape):
        X = (np.random.default_rng(0).normal(3, 2, shape) ** 2).astype(kind)
        for array in (X, np.asfortranarray(X), X[::-1], X[::2, : max(1, shape[1] - 1)]):
            np.testing.assert_array_equal(extremes(array), [array.min(0), array.max(0)])
            total = column_sums(array, lambda rows: rows)
            np.testing.assert_array_equal(total, array.sum(0, dtype=np.float64))
            mean, scale = scale_of(array)
            np.testing.assert_array_equal(mean, array.mean(0, dtype=np.float64))
            deviation = array.std(0, dtype=np.float64)
            constant = deviation <= 1e-14 * np.abs(mean)
            np.testing.assert_array_equal(scale, np.where(constant, 1.0, deviation))

    def test_far_numbers(self):
        X = np.random.default_rng(0).normal(size=(50, 3)) * [1e300, 1e-300, 1]
        mean, scale = scale_of(X)
        plain = X / [1e300, 1e-300, 1]
        np.testing.assert_allclose(scale / [1e300, 1e-300, 1], plain.std(0))
        np.testing.assert_allclose(mean / [1e300, 1e-300, 1], plain.mean(0))

    def test_known_edges_are_not_looked_for(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        for one, other in zip(scale_of(X), scale_of(X, extremes(X)), strict=True):
            np.testing.assert_array_equal(one, other)

    def test_a_gap_shows_in_the_extremes(self):
        X = np.ones((40, 2))
        X[17, 1] = np.nan
        assert np.isnan(extremes(X)).tolist() == [[False, True], [False, True]]


class TestInputs:
    @pytest.mark.parametrize("kind", [*KINDS, np.longdouble], ids=str)
    def test_in_double_precision_first(self, kind):
        X = (np.random.default_rng(0).normal(3, 2, (20, 3)) ** 2).astype(kind)
        scale = np.array([1.0, 2.0, 3.0]), np.array([0.1, 7.0, 3.0])
        found = inputs_of(X, scale, np.float32)
        np.testing.assert_array_equal(found, ((X - scale[0]) / scale[1]).astype(np.float32))
        assert found.flags.c_contiguous
        assert found.flags.writeable
        np.testing.assert_array_equal(inputs_of(X, None, np.float64), X.astype(np.float64))

    def test_rows_stay_as_they_are(self, saved):
        X = np.ones((3, 2), dtype=np.float32)
        inputs_of(X, (np.ones(2), np.full(2, 5.0)), np.float32)
        assert (X == 1).all()
        # What was not converted is shared if it is ours to write to, and copied if it is not.
        assert inputs_of(X, None, np.float32) is X
        assert inputs_of(saved(X), None, np.float32).flags.writeable


class TestAsked:
    """Which pages of the file the system is asked for."""

    @pytest.mark.parametrize("size", [1, 7, 10, 33])
    @pytest.mark.parametrize("stride", [33, 50, 100])
    def test_those_of_the_rows_and_no_others(self, size, stride):
        rows = np.array([0, 1, 2, 40, 41, 333, 600])
        pieces = runs(13 + rows * stride, size, page=10)
        found = [page for start, end in pieces for page in range(start // 10, end // 10)]
        bytes_ = {13 + row * stride + byte for row in rows.tolist() for byte in range(size)}
        assert found == sorted({byte // 10 for byte in bytes_})
        # As few pieces as there can be.
        assert all(two[0] > one[1] for one, two in pairwise(pieces))

    def test_rows_are_what_they_were(self, saved, monkeypatch):
        monkeypatch.setattr(room, "memory", lambda: 0)
        X = saved(np.arange(40_000.0).reshape(2_000, 20))
        for part in (X, X[77:], X[::3], X[:, 4:9], X[1990:]):
            rows = np.arange(0, len(part), 3)
            room.ask_for(part, rows)
            np.testing.assert_array_equal(part[rows], np.array(part)[rows])

    def test_nothing_of_what_fits_into_memory(self, saved, monkeypatch):
        X = saved(np.zeros((5, 3)))
        monkeypatch.setattr(np, "frombuffer", None)
        room.ask_for(X, np.array([1, 3]))
        room.ask_for(np.zeros((5, 3)), np.array([1, 3]))
        monkeypatch.setattr(room, "memory", lambda: 0)
        with pytest.raises(TypeError):
            room.ask_for(X, np.array([1, 3]))

    def test_the_memory_of_the_machine(self, monkeypatch, tmp_path):
        assert room.memory() > 1 << 28
        monkeypatch.setattr(room, "LIMITS", ())
        machine = room.memory()
        for limits, found in [
            (("max",), machine),
            (("1000000", "max"), 1_000_000),
            (("max", "2000000"), 2_000_000),
            (("9223372036854771712",), machine),
        ]:
            paths = [tmp_path / str(place) for place in range(len(limits))]
            for path, limit in zip(paths, limits, strict=True):
                path.write_text(f"{limit}\n")
            monkeypatch.setattr(room, "LIMITS", [tmp_path / "none", *paths])
            assert room.memory() == found
        monkeypatch.delattr(os, "sysconf")
        assert room.memory() == 0


class TestSome:
    def test_at_most_so_many_of_each(self):
        is_positive = np.arange(100) % 5 == 0
        rows = some_of_each(is_positive, (7, 30), seed=1)
        assert is_positive[rows].sum() == 7
        assert len(np.unique(rows)) == len(rows) == 37
        assert (np.diff(rows) > 0).all()
        assert rows.tolist() != some_of_each(is_positive, (7, 30), seed=2).tolist()

    def test_all_if_there_are_no_more(self):
        is_positive = np.arange(10) < 4
        assert some_of_each(is_positive, (4, 99), seed=0).tolist() == list(range(10))

    def test_each_as_likely_as_any_other(self):
        is_positive = np.arange(12) < 4
        count = np.zeros(12)
        for seed in range(600):
            count[some_of_each(is_positive, (1, 4), seed)] += 1
        np.testing.assert_allclose(count, np.where(is_positive, 150, 300), atol=60)

"""A mapped pool answers as a tensor does, and reads each row once."""

import threading

import numpy as np
import pytest
import torch

from robustpu.fleet import Fleet, Mapped, Member, Part, Partners, Rows, batches, cross_entropy
from robustpu.fleet.batches import EpochBatches, prefetched
from robustpu.fleet.pool import ahead, inputs, joined, mirrored, slices
from robustpu.modules import rows as room

CPU = torch.device("cpu")
N = 23


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(room, "BLOCK", 10)


@pytest.fixture
def array(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(N, 2, 3)))
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


@pytest.fixture
def both(array):
    """The same inputs mapped, in two parts of which one is some of the rows; and as a tensor."""
    some = np.arange(0, N, 2)
    parts = [Part(array), Part(array, rows=some)]
    whole = np.concatenate([array, array[some]]).astype(np.float32)
    return Mapped(parts, torch.float32, CPU), torch.from_numpy(whole)


def watched(monkeypatch):
    """Numbers of the rows that are read, read by read."""
    seen = []
    read = Part.read

    def counted(self, index, out):
        seen.append(index.tolist())
        read(self, index, out)

    monkeypatch.setattr(Part, "read", counted)
    return seen


class TestAsATensor:
    def test_what_it_looks_like(self, both):
        mapped, held = both
        assert mapped.shape == held.shape
        assert (len(mapped), mapped.ndim, mapped.dtype) == (len(held), held.ndim, held.dtype)
        assert mapped.to(torch.device("meta")).device.type == "meta"
        assert mapped.device == CPU
        assert mapped.new_empty((2, 3)).dtype == torch.float32
        assert mapped.new_empty((2, 3), dtype=torch.bool).dtype == torch.bool

    def test_rows(self, both):
        mapped, held = both
        random = torch.Generator().manual_seed(0)
        for shape in ((1,), (7,), (3, 40), (0,)):
            index = torch.randint(len(held), shape, generator=random)
            assert torch.equal(mapped[index], held[index])
        for rows in (slice(2), slice(20, 30), slice(None), slice(0, 30, 4)):
            assert torch.equal(mapped[rows], held[rows])

    def test_slices_and_inputs(self, both):
        mapped, held = both
        for one, two in zip(slices(mapped, 4), slices(held, 4), strict=True):
            assert torch.equal(one, two)
        index = [torch.tensor([[3, 1, 3], [0, 34, 22]]), torch.tensor([[5], [5]])]
        for one, two in zip(inputs(mapped, index), inputs(held, index), strict=True):
            assert torch.equal(one, two)

    def test_mirror_images(self, both):
        mapped, held = map(mirrored, both)
        assert torch.equal(mapped[:], held)
        assert torch.equal(mirrored(mapped)[:], mirrored(held))

    def test_some_rows(self, both):
        mapped, held = both
        rows = np.array([0, 5, 22, 23, 30, 34])
        assert torch.equal(mapped.take(rows)[:], held[rows])
        assert torch.equal(mapped.take(rows).take(np.array([1, 4]))[:], held[[5, 30]])
        # No part is left without rows.
        assert len(mapped.take(np.array([25])).parts) == 1

    def test_scale_and_kind(self, array):
        scale = np.full((2, 3), 0.5), np.full((2, 3), 0.3)
        pool = Mapped([Part(array, scale)], torch.float64, CPU)
        np.testing.assert_array_equal(pool[:].numpy(), (array - 0.5) / 0.3)

    @pytest.mark.parametrize("kind", [np.uint8, np.float32, ">f8", np.int16])
    def test_kinds_and_cuts_of_arrays(self, tmp_path, kind):
        whole = np.arange(60).reshape(12, 5).astype(kind)
        np.save(tmp_path / "other.npy", whole)
        mapped = np.load(tmp_path / "other.npy", mmap_mode="r")
        index = torch.tensor([11, 2, 5, 2])
        for cut in (np.s_[:], np.s_[:, 1:3], np.s_[::1, :2]):
            pool = Mapped([Part(mapped[cut])], torch.float32, CPU)
            expected = whole[cut].astype(np.float32)[index]
            np.testing.assert_array_equal(pool[index].numpy(), expected)


class TestJoined:
    def test_tensors_alone_stay_tensors(self):
        one, two = torch.zeros(2, 3), torch.ones(4, 3)
        assert joined([one]) is one
        assert torch.equal(joined([one, two]), torch.cat([one, two]))

    def test_maps_and_tensors(self, both):
        mapped, held = both
        extra = torch.ones(4, 2, 3)
        assert joined([mapped]) is mapped
        for order in ([mapped, extra, mapped], [extra, mapped]):
            pool = joined(order)
            assert isinstance(pool, Mapped)
            expected = torch.cat([held if pool is mapped else pool for pool in order])
            assert torch.equal(pool[:], expected)


class TestReading:
    def test_each_row_once_and_in_order(self, array, monkeypatch):
        seen = watched(monkeypatch)
        pool = Mapped([Part(array)], torch.float32, CPU)
        pool.gather(torch.tensor([[9, 3, 9], [3, 3, 20]]))
        assert seen == [[3, 9, 20]]

    def test_one_ahead_by_a_thread(self, array):
        pool = Mapped([Part(array)], torch.float32, CPU)
        asked, threads = [], set()
        gather = pool.gather

        def counted(index):
            threads.add(threading.current_thread())
            return gather(index)

        def wanted():
            for place in range(4):
                asked.append(place)
                yield torch.tensor([place])

        pool.gather = counted
        for done, _ in enumerate(ahead(pool, wanted())):
            assert len(asked) == min(done + 2, 4)
        assert threading.current_thread() not in threads

    def test_nothing_is_wanted(self, array):
        assert list(ahead(Mapped([Part(array)], torch.float32, CPU), [])) == []

    def test_an_error_of_the_reader_is_raised(self, array):
        pool = Mapped([Part(array)], torch.float32, CPU)
        with pytest.raises(IndexError):
            list(ahead(pool, [torch.tensor([0]), torch.tensor([N + 4])]))


def batches_of(random, members=2, mixed=False):
    index = torch.stack([torch.randperm(N, generator=random) for _ in range(members)])
    partners = None
    if mixed:
        partners = Partners(index.flip(1), torch.rand(members, N, generator=random))
    return EpochBatches(index, index < 5, index.float(), {"target": index / N}, partners)


class TestPrefetching:
    @pytest.mark.parametrize("mixed", [False, True])
    @pytest.mark.parametrize("piece", [1, 4000, 1 << 26])
    def test_steps_get_what_they_would_get_of_a_tensor(self, array, monkeypatch, mixed, piece):
        monkeypatch.setattr(batches, "PIECE", piece)
        epoch_batches = batches_of(torch.Generator().manual_seed(0), mixed=mixed)
        steps = [slice(0, 5), slice(5, 10), slice(10, 15), slice(15, 20), slice(20, 23)]
        pool = Mapped([Part(array)], torch.float32, CPU)
        held, start, count = pool[:], 0, 0
        for x, part_batches, some in prefetched(pool, epoch_batches, steps):
            count += 1
            for step in some:
                part = part_batches.part(slice(None), step)
                whole = epoch_batches.part(slice(None), steps[start])
                start += 1
                assert torch.equal(x[part.index], held[whole.index])
                assert torch.equal(part.weight, whole.weight)
                assert torch.equal(part.is_positive, whole.is_positive)
                assert torch.equal(part.columns["target"], whole.columns["target"])
                if mixed:
                    assert torch.equal(x[part.partners.index], held[whole.partners.index])
                    assert torch.equal(part.partners.share, whole.partners.share)
        assert start == 5
        # A row is 24 bytes and its place 64: ten rows a step, or twenty if they are mixed.
        assert count == {1: 5, 4000: 3 if mixed else 2, 1 << 26: 1}[piece]

    def test_a_tensor_serves_all_steps_as_it_is(self):
        epoch_batches, pool = batches_of(torch.Generator().manual_seed(0)), torch.zeros(N, 2)
        ((x, part_batches, steps),) = prefetched(pool, epoch_batches, [slice(0, 12), slice(12, N)])
        assert x is pool
        assert part_batches is epoch_batches
        assert len(steps) == 2

    def test_an_epoch_reads_each_row_once_for_all_members(self, array, monkeypatch):
        rows = Rows(torch.arange(N), torch.arange(N) < 8, torch.ones(N))
        pool = Mapped([Part(array)], torch.float32, CPU)
        fleet = Fleet(pool, [Member(rows, None, 0.3, 0.3, seed, 0) for seed in range(3)], "mlp")
        fleet.start(cross_entropy, [1e-3] * 3, [0.0] * 3, [0] * 3, 4)
        seen = watched(monkeypatch)
        fleet.epoch()
        assert seen == [list(range(N))]

    def test_an_error_in_a_step_ends_the_reader(self, array, monkeypatch):
        monkeypatch.setattr(batches, "PIECE", 1)
        rows = Rows(torch.arange(N), torch.arange(N) < 8, torch.ones(N))
        pool = Mapped([Part(array)], torch.float32, CPU)
        fleet = Fleet(pool, [Member(rows, None, 0.3, 0.3, 0, 0)], "mlp")

        def risk(logit, batch):
            raise KeyError

        fleet.start(risk, [1e-3], [0.0], [0], 4)
        before = threading.active_count()
        with pytest.raises(KeyError):
            fleet.epoch()
        assert threading.active_count() == before

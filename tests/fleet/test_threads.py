"""Small steps have one thread, whatever there is."""

import pytest
import torch

from robustpu.fleet import Fleet, Member, Rows, cross_entropy
from robustpu.fleet.devices import WORTH, threads_for


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
class TestThreads:
    def test_only_large_steps_have_all(self):
        with threads_for(WORTH):
            assert torch.get_num_threads() == 2
        with threads_for(WORTH - 1):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2

    def test_they_come_back_after_an_error(self):
        with pytest.raises(KeyError), threads_for(1):
            raise KeyError
        assert torch.get_num_threads() == 2

    @pytest.mark.parametrize(("width", "found"), [(10, 1), (WORTH // 6400 + 1, 2)])
    def test_an_epoch_takes_what_its_steps_are_worth(self, width, found):
        seen = []

        def risk(logit, batch):
            seen.append(torch.get_num_threads())
            return cross_entropy(logit, batch)

        rows = Rows(torch.arange(64), torch.arange(64) < 20, torch.ones(64))
        fleet = Fleet(torch.randn(64, width), [Member(rows, None, 0.5, 0.5, 0, 0)], "mlp")
        fleet.start(risk, [1e-3], [0.0], [0], 64)
        fleet.epoch()
        assert set(seen) == {found}

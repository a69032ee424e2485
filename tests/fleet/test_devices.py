"""Work side by side: what is counted, what goes wrong, and what is left behind."""

import signal
import threading
import time

import pytest
import torch
from torch import nn

from robustpu.fleet import choice, network, network_for
from robustpu.fleet.devices import IN_COMPANY, Stopped, gpus, on, side_by_side


class TestGpus:
    @pytest.mark.parametrize(
        ("name", "there", "found"),
        [
            ("auto", 3, ["cuda:0", "cuda:1", "cuda:2"]),
            ("cuda", 2, ["cuda:0", "cuda:1"]),
            ("cuda", 1, []),
            ("auto", 0, []),
            ("cuda:1", 3, []),
            ("cpu", 3, []),
        ],
    )
    def test_all_if_none_is_named(self, monkeypatch, name, there, found):
        monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
        assert [str(device) for device in gpus(name)] == found

    def test_a_cpu_needs_nothing(self):
        with on(torch.device("cpu")) as nothing:
            assert nothing is None


class TestSideBySide:
    def test_all_run_at_once_and_are_counted_here(self):
        meet, seen = threading.Barrier(3, timeout=10), []

        def work(count):
            meet.wait()
            for _ in range(5):
                count(2)

        here = threading.current_thread()

        def tick(done):
            assert threading.current_thread() is here
            seen.append(done)

        side_by_side([work] * 3, tick)
        assert seen == [2] * 15

    def test_nothing_to_do(self):
        side_by_side([], print)

    def test_an_exception_is_raised_here_and_stops_the_others(self):
        ended = []

        def fails(count):
            count(1)
            raise KeyError("mine")

        def goes_on(count):
            try:
                for _ in range(10_000):
                    count(1)
                    time.sleep(0.001)
            except Stopped:
                ended.append(True)
                raise

        with pytest.raises(KeyError, match="mine"):
            side_by_side([goes_on, fails, goes_on], lambda done: None)
        assert ended == [True, True]

    def test_what_the_listener_raises_stops_all(self):
        def tick(done):
            raise ValueError("enough")

        def work(count):
            for _ in range(10_000):
                count(1)
                time.sleep(0.001)

        before = threading.active_count()
        with pytest.raises(ValueError, match="enough"):
            side_by_side([work] * 2, tick)
        assert threading.active_count() == before

    @pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
    def test_ctrl_c(self):
        main = threading.main_thread().ident

        def work(count):
            time.sleep(0.2)
            signal.pthread_kill(main, signal.SIGINT)
            for _ in range(10_000):
                count(1)
                time.sleep(0.001)

        def silent(count):
            for _ in range(10_000):
                count(0)
                time.sleep(0.001)

        before = threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            side_by_side([work, silent], lambda done: None)
        assert threading.active_count() == before

    def test_threads_of_torch_stay_what_they_were(self):
        before = torch.get_num_threads()
        torch.set_num_threads(2)
        seen = []

        def work(count):
            seen.append(torch.get_num_threads())
            torch.set_num_threads(1)
            torch.set_num_threads(2)

        try:
            side_by_side([work] * 2, lambda done: None)
            assert seen == [2, 2]
            assert torch.get_num_threads() == 2
        finally:
            torch.set_num_threads(before)


class TestTriedOut:
    """What holds for the whole process is not tried while others train."""

    def waits(self, monkeypatch, template):
        """Whether the template waits, asked in company; and how often it was tried."""
        tried, answer = [], []

        def try_it(network, example):
            tried.append(network)
            return False

        monkeypatch.setattr(choice, "_is_seen_to_wait", try_it)
        example = torch.zeros(2, 3)
        stack = network.SerialStack(template, draws=False)
        side_by_side(
            [lambda count: answer.append(choice._waits(stack, example))], lambda done: None
        )
        return answer[0], len(tried)

    def test_only_before(self, monkeypatch):
        monkeypatch.setattr(choice, "WAITS", {})
        template = torch.nn.Sequential(
            torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1)
        )
        assert self.waits(monkeypatch, template) == (True, 0)
        # Alone it is tried, and known from then on.
        assert choice._waits(network.SerialStack(template, draws=False), torch.zeros(2, 3)) is False
        assert self.waits(monkeypatch, template) == (False, 0)

    def test_company_is_known_in_the_thread_alone(self):
        seen = []
        side_by_side([lambda count: seen.append(IN_COMPANY.get())], lambda done: None)
        assert seen == [True]
        assert not IN_COMPANY.get()

    def test_networks_can_be_made_there(self):
        made = []

        def work(count):
            template = nn.Sequential(nn.Linear(3, 1), nn.Tanh())
            made.append(type(network_for(template, torch.zeros(2, 3))).__name__)

        side_by_side([work] * 4, lambda done: None)
        assert made == ["VmapStack"] * 4

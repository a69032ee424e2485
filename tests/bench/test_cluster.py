"""The crew of a Dask cluster against a client that plays one: who gets what, and who is refused."""

import logging
import signal
from collections import deque

import pytest

distributed = pytest.importorskip("distributed", reason="needs robustpu[dask]")

import robustpu  # noqa: E402
from robustpu.bench import cluster, connect, remote  # noqa: E402
from robustpu.bench.workers import train_all  # noqa: E402

GOOD = {"version": robustpu.__version__, "absent": "", "device": "Abacus 1"}


class Scheduler:
    address = "tcp://nowhere:1"


class Future:
    """Ends when the client says so."""

    def __init__(self, key, worker):
        self.key, self.worker, self.answer = key, worker, None

    def add_done_callback(self, call):
        self.call = call

    def end(self, answer):
        self.answer = answer
        self.call(self)

    def result(self, timeout):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Client:
    """Workers by address; ``plan`` says, fit by fit, what comes of a future."""

    scheduler = Scheduler()

    def __init__(self, workers, plan=()):
        self.workers, self.plan = dict(workers), deque(plan)
        self.submitted, self.cancelled, self.open = [], [], []

    def subscribe_topic(self, topic, handler):
        self.handler = handler

    def unsubscribe_topic(self, topic):
        self.handler = None

    def nthreads(self):
        if self.plan:
            self.plan.popleft()(self)
        return dict.fromkeys(self.workers, 1)

    def run(self, function, *_, workers, on_error):
        return {worker: self.workers[worker] for worker in workers}

    def submit(self, function, cell, machine, key, workers, allow_other_workers):
        assert not allow_other_workers
        future = Future(key, workers[0])
        self.submitted.append((cell.name, *workers))
        self.open.append(future)
        return future

    def cancel(self, futures, force):
        self.cancelled += [future.key for future in futures]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(cluster, "GLANCE", 0.01)


def crew_of(client, machine, say=lambda line: None):
    return cluster.Cluster(client, machine, ("digits",), say)


def nothing(client):
    """A look at which nothing has changed."""


def finish(client):
    """All that is open is done."""
    while client.open:
        client.open.pop().end([{"done": True}])


def die(client):
    """All workers go, and as many others come."""
    client.open.clear()
    client.workers = {f"{name}'": answer for name, answer in client.workers.items()}


def test_each_worker_has_one_cell_at_a_time(cells, machine):
    client = Client({"a": GOOD, "b": GOOD}, [nothing, finish, finish])
    crew = crew_of(client, machine)
    assert len(crew) == 2
    seen = []
    answers = list(train_all(cells, machine, crew, lambda *event: seen.append(event)))
    assert [worker for _, worker in client.submitted[:2]] == ["a", "b"]
    assert sorted(worker for _, worker in client.submitted) == ["a", "a", "b", "b"]
    assert {cell for cell, _ in answers} == set(cells)
    assert [event[0] for event in seen] == cells
    assert client.handler is None


def test_progress_of_others_is_not_ours(cells, machine):
    client = Client({"a": GOOD})
    crew = crew_of(client, machine)
    crew.give(cells[0])
    client.handler((0.0, ("of another run", 1, 2)))
    client.handler((0.0, (client.open[0].key, 3, 4)))
    assert list(crew.news()) == []
    assert list(crew.news()) == [(cells[0], 3, 4, None)]


def test_a_cell_whose_worker_is_lost_goes_to_another_one(cells, machine):
    client = Client({"a": GOOD}, [nothing, die, finish])
    seen = []
    watch = lambda *event: seen.append(event)  # noqa: E731
    answers = list(train_all(cells[:1], machine, crew_of(client, machine), watch))
    assert answers == [(cells[0], [{"done": True}])]
    assert [worker for _, worker in client.submitted] == ["a", "a'"]
    assert seen == [(cells[0], 0, 0)] * 2
    assert len(client.cancelled) == 1


def test_a_cell_that_loses_one_worker_after_the_other_has_failed(cells, machine):
    client = Client({"a": GOOD}, [nothing, die, die, die, finish])
    answers = dict(train_all(cells[:2], machine, crew_of(client, machine), lambda *_: None))
    failed = answers[cells[0]]
    assert [own["failure"] for own in failed] == [
        "WorkerDied: 3 workers were lost while they trained this cell, the last one a''; out of "
        "memory?"
    ] * 2
    assert failed[0]["device"] == "unknown"
    assert answers[cells[1]] == [{"done": True}]


def test_a_worker_that_comes_back_at_its_old_address_is_asked_and_used_again(cells, machine):
    def leave(client):
        client.open.clear()
        client.away, client.workers = client.workers, {}

    def return_(client):
        client.workers = client.away

    def give_up(client):
        raise AssertionError("it is not used")

    said = []
    client = Client({"a": GOOD}, [nothing, leave, nothing, return_, finish, finish, give_up])
    crew = crew_of(client, machine, said.append)
    assert len(list(train_all(cells[:1], machine, crew, lambda *_: None))) == 1
    assert [worker for _, worker in client.submitted] == ["a", "a"]
    assert said[1:] == ["1 worker came."]


@pytest.mark.parametrize(
    ("error", "tries"),
    [(TimeoutError(), 2), (distributed.CancelledError("x"), 2), (ValueError("no"), 1)],
)
def test_records_that_do_not_come_are_made_again_and_errors_are_records(
    cells, machine, error, tries
):
    def fail(client):
        client.open.pop().end(error)

    client = Client({"a": GOOD}, [nothing, fail, finish, finish])
    ((_, records),) = train_all(cells[:1], machine, crew_of(client, machine), lambda *_: None)
    assert len(client.submitted) == tries
    if tries == 1:
        assert [own["failure"] for own in records] == ["ValueError: no"] * 2
        assert records[0]["device"] == "Abacus 1"


def test_without_workers_it_waits_and_says_so_once(cells, machine):
    def come(client):
        client.workers = {"late": GOOD}

    said = []
    client = Client({}, [nothing, nothing, come, finish])
    answers = list(train_all(cells[:1], machine, crew_of(client, machine, said.append), print))
    assert len(answers) == 1
    assert len(said) == 2
    assert said[0].startswith("No worker at tcp://nowhere:1 yet: waiting. Start some by `dask work")
    assert said[1] == "1 worker came."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (GOOD | {"version": "0.0.1"}, f"has robustpu 0.0.1, and this is {robustpu.__version__}"),
        (GOOD | {"absent": "not in /data: mnist."}, "not in /data: mnist. A worker reads ROBUST"),
        (GOOD | {"trouble": "device must be"}, "device must be"),
        (ModuleNotFoundError("robustpu"), "cannot run robustpu .ModuleNotFoundError: robustpu"),
    ],
)
def test_workers_that_do_not_suit_are_named(machine, answer, words):
    with pytest.raises(OSError, match=rf"^worker b: {words}"):
        crew_of(Client({"a": GOOD, "b": answer}), machine)


def test_one_that_comes_late_and_does_not_suit_is_left_aside(cells, machine):
    def come(client):
        client.workers["b"] = GOOD | {"version": "0"}

    said = []
    client = Client({"a": GOOD}, [nothing, come, nothing, finish, finish])
    list(train_all(cells[:2], machine, crew_of(client, machine, said.append), lambda *_: None))
    assert len(said) == 1
    assert said[0].startswith("Left aside: worker b: has robustpu 0,")
    assert [worker for _, worker in client.submitted] == ["a", "a"]


def test_a_scheduler_that_goes_is_an_error(cells, machine):
    def break_off(client):
        raise ConnectionResetError("reset by peer")

    client = Client({"a": GOOD}, [nothing, break_off])
    crew = crew_of(client, machine)
    with pytest.raises(OSError, match=r"has gone \(reset by peer\). What was finished is kept"):
        list(train_all(cells[:1], machine, crew, lambda *_: None))
    assert len(client.cancelled) == 1


def test_a_worker_answers_for_itself(machine, tmp_path):
    told = remote.meet(["digits", "mushrooms"], machine.__class__("cpu", tmp_path))
    assert told["version"] == robustpu.__version__
    assert told["absent"].startswith(f"not in {tmp_path}: mushrooms. Get them by")
    assert remote.meet(["digits"], machine)["absent"] == ""
    assert "device must be" in remote.meet([], machine.__class__("abacus"))["trouble"]


@pytest.mark.parametrize("address", ["", "host", "local:0", "local:many", "abacus://host:1"])
def test_addresses_that_make_no_sense(address):
    with pytest.raises(ValueError, match="expected the address of a Dask scheduler, such as tcp:"):
        connect.processes(address)


def test_addresses():
    assert connect.processes("local:3") == 3
    assert connect.processes("local") >= 1
    assert connect.processes("tcp://host:8786") is None


@pytest.mark.parametrize("address", ["tls://127.0.0.1:1", "wss://127.0.0.1:1"])
def test_tls_without_certificates_names_the_settings(machine, monkeypatch, address):
    # Nothing is half made.
    monkeypatch.setattr(distributed, "Client", None)
    with (
        pytest.raises(
            OSError, match=r"there are none.*ca-file.*DASK_DISTRIBUTED__COMM__TLS__CA_FI"
        ),
        connect.crew_at(address, machine, [], print),
    ):
        pass


def test_tls_with_certificates_that_are_not_there(machine, tmp_path):
    import dask

    settings = {f"distributed.comm.tls.{own}": str(tmp_path / "no") for own in ("ca-file", "x")}
    with (
        dask.config.set(settings | {"distributed.comm.tls.client.cert": str(tmp_path / "no")}),
        pytest.raises(OSError, match=r"here: \[Errno 2\] No such file.*ca-file"),
        connect.crew_at("tls://127.0.0.1:1", machine, [], print),
    ):
        pass


LOUD = "distributed", "distributed.client", "distributed.core", "tornado.application", "asyncio"


class Place:
    """A local cluster or a client that notes how loud it is, and whether Ctrl-C is heard."""

    seen: list = []  # noqa: RUF012

    def __init__(self, *_, **__):
        self.note()
        self.workers = {"a": GOOD}

    def note(self):
        levels = {logging.getLogger(own).getEffectiveLevel() for own in LOUD}
        self.seen.append((levels, signal.getsignal(signal.SIGINT)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.note()

    def register_plugin(self, plugin):
        pass


class Connected(Place, Client):
    def __init__(self, *_, **__):
        super().__init__()
        self.plan = ()


def test_dask_is_quiet_from_beginning_to_end_and_processes_are_born_deaf(machine, monkeypatch):
    monkeypatch.setattr(distributed, "LocalCluster", Place)
    monkeypatch.setattr(distributed, "Client", Connected)
    monkeypatch.setattr(Place, "seen", [])
    before = [logging.getLogger(own).level for own in LOUD]
    heard = signal.getsignal(signal.SIGINT)
    with connect.crew_at("local:2", machine, ["digits"], print) as crew:
        assert len(crew) == 1
    assert [levels for levels, _ in Place.seen] == [{logging.CRITICAL}] * 4
    assert [own for _, own in Place.seen] == [signal.SIG_IGN, heard, heard, heard]
    assert [logging.getLogger(own).level for own in LOUD] == before
    assert signal.getsignal(signal.SIGINT) is heard

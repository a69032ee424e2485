"""From an address to the crew of a Dask cluster."""

import logging
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import distributed
from dask.system import CPU_COUNT

from robustpu.bench.cluster import Cluster
from robustpu.bench.train import Machine

# Seconds to reach a scheduler.
PATIENCE = 10.0
# Loggers of Dask that tell errors with their tracebacks; the second has a level of its own.
LOUD = "distributed", "distributed.client", "tornado.application", "asyncio"


def processes(address: str) -> int | None:
    """How many processes of this machine an address asks for; None if it is one of elsewhere.

    Parameters
    ----------
    address
        As in ``crew_at``.

    Raises
    ------
    ValueError
        The address makes no sense.

    Examples
    --------
    >>> processes("local:4")
    4
    """
    kind, _, number = address.partition(":")
    if kind == "local" and not number:
        return int(CPU_COUNT)
    if kind == "local" and number.isdecimal() and int(number):
        return int(number)
    try:
        if kind == "local":
            raise ValueError("no number of processes")
        distributed.comm.get_address_host(address)
    except ValueError as error:
        raise ValueError(
            "expected the address of a Dask scheduler, such as tcp://host:8786, or local:4 for "
            f"four processes of this machine; got {address!r}: {error}."
        ) from None
    return None


@contextmanager
def crew_at(
    address: str, machine: Machine, needed: Iterable[str], say: Callable[[str], None]
) -> Iterator[Cluster]:
    """Open the crew of a cluster, and close it.

    Parameters
    ----------
    address
        Of the scheduler, ``tcp://host:8786``; or ``local``, ``local:4`` for so many processes here.
    machine
        Device and data folder, as the workers are to understand them.
    needed
        Data sets that each worker must have.
    say
        Told in a line what people should know.

    Raises
    ------
    OSError
        Nobody is there, they want TLS that is not set up, or a worker does not suit.
    ValueError
        The address makes no sense.
    """
    number = processes(address)
    with ExitStack() as stack:
        for name in LOUD:
            stack.enter_context(_quiet(name))
        place = address if number is None else stack.enter_context(_local(number))
        client = stack.enter_context(_client(place))
        if number is not None:
            client.register_plugin(_Deaf())
        yield Cluster(client, machine, tuple(dict.fromkeys(needed)), say)


def _client(place: Any) -> Any:
    """Connect to an address, or to a cluster that was started here."""
    if str(place).startswith(("tls:", "wss:")):
        _check_tls(place)
    try:
        return distributed.Client(place, timeout=PATIENCE, set_as_default=False)
    except OSError as error:
        raise OSError(
            f"no Dask scheduler answers at {place} within {PATIENCE:g} seconds ({error}). Give the "
            "address that `dask scheduler` prints, or local:4 for four processes of this machine."
        ) from None


def _check_tls(address: str) -> None:
    """Refuse TLS that is not set up; Dask would with a client half made, which cannot be closed."""
    try:
        if distributed.Security().get_connection_args("client")["ssl_context"] is not None:
            return
        trouble = "there are none"
    except OSError as error:
        trouble = str(error)
    raise OSError(
        f"{address} wants TLS, so certificates must be set up for Dask here: {trouble}. Give those "
        "of the cluster as ca-file, client.cert and client.key under distributed.comm.tls in a "
        "file of ~/.config/dask, or as DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ...__CLIENT__CERT and "
        "...__CLIENT__KEY."
    )


class _Deaf(distributed.WorkerPlugin):  # type: ignore[misc]
    """Ctrl-C reaches all processes of a terminal: the client decides what it means."""

    def setup(self, worker: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _local(number: int) -> Any:
    # Processes are born deaf: until the plugin comes they would answer Ctrl-C with tracebacks. For
    # these seconds this one is deaf, too.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return distributed.LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        )
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a logger silent: what it would tell in forty lines, an error here tells in one."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)

"""From an address to the crew of a Dask cluster."""

import logging
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import distributed
from dask.system import CPU_COUNT

from robustpu.bench.cluster import Cluster
from robustpu.bench.train import Machine

# Seconds to reach a scheduler.
PATIENCE = 10.0


def processes(address: str) -> int | None:
    """How many processes of this machine an address asks for; None if it is one of elsewhere.

    Parameters
    ----------
    address
        As in ``at``.

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
def at(
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
        Nobody is there, or a worker does not suit.
    ValueError
        The address makes no sense.
    """
    number = processes(address)
    with nullcontext(address) if number is None else _local(number) as place:
        try:
            client = distributed.Client(place, timeout=PATIENCE, set_as_default=False)
        except OSError as error:
            raise OSError(
                f"no Dask scheduler answers at {address} within {PATIENCE:g} seconds ({error}). "
                "Give the address that `dask scheduler` prints, or local:4 for four processes of "
                "this machine."
            ) from None
        with _quiet("distributed.client"), client:
            if number is not None:
                client.register_plugin(_Deaf())
            yield Cluster(client, machine, tuple(dict.fromkeys(needed)), say)


class _Deaf(distributed.WorkerPlugin):  # type: ignore[misc]
    """Ctrl-C reaches all processes of a terminal: the client decides what it means."""

    def setup(self, worker: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _local(number: int) -> Any:
    return distributed.LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.ERROR,
    )


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

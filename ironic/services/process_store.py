"""The database of this process and its ring of conductors, for what has no task: plug-ins that ask for records.

A program of the service notes its own here when it is wired. A process without one, such as a private tool, gets both
from the options at the first use.
"""

import threading
from typing import Final, NamedTuple

from oslo_config import cfg

from ironic.conf import CONF
from ironic.core.clock import CLOCK
from ironic.core.keys import info_keys
from ironic.db import Store
from ironic.rpc.hash_ring import HashRingManager


class Database(NamedTuple):
    """The store of a process, and which conductors serve its nodes."""

    store: Store
    hash_ring: HashRingManager


_OF_PROCESS: Final[list[Database]] = []
# Two stores of one SQLite file would lock each other out.
_LOCK: Final = threading.Lock()


def from_conf(conf: cfg.ConfigOpts, retry_seconds: float = 0) -> Database:
    """Return the database of the options; ValueError for a file within the installed package."""
    # Before anything of a node is shown.
    info_keys.declared()
    store = Store.from_conf(clock=CLOCK, retry_seconds=retry_seconds)
    hash_ring = HashRingManager(
        store,
        heartbeat_timeout=conf.conductor.heartbeat_timeout,
        reset_interval=conf.hash_ring_reset_interval,
        partition_exponent=conf.hash_partition_exponent,
        algorithm=conf.hash_ring_algorithm,
        clock=CLOCK.monotonic,
    )
    return Database(store, hash_ring)


def use(database: Database) -> Database:
    """Make a database that of this process; return it."""
    with _LOCK:
        _OF_PROCESS[:] = [database]
    return database


def database() -> Database:
    """Return the database of this process; without one, that of the options."""
    with _LOCK:
        if not _OF_PROCESS:
            _OF_PROCESS.append(from_conf(CONF))
        return _OF_PROCESS[0]

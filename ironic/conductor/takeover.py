"""Take-over: free the locks of a conductor that is gone, and fail what was under way with a reason.

A conductor that starts frees the locks of its earlier life; the living free the locks of those whose heartbeat stopped;
and each frees locks in its own name that no task of it holds. Each of these is a single transaction that writes only
while the reservation that was seen is still in the row. So two conductors that free the same node, a holder that was
not dead, and a newer life of the same name can't get in each other's way. No hardware is touched.
"""

import functools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from ironic.conductor import power, transitions
from ironic.conductor.tasks import TaskFactory
from ironic.conf import CONF
from ironic.core.context import service_context
from ironic.core.errors import NodeNotFound, TakenOver, TemporaryFailure
from ironic.core.flows import node_waits, states
from ironic.core.flows.flow import in_state
from ironic.core.flows.step_cursor import StepCursor
from ironic.drivers.contract import awaited_setting
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

RESTARTED: Final = "conductor {holder} was restarted"
STOPPED: Final = "conductor {holder} was stopped"
DEAD: Final = "conductor {holder} stopped giving signs of life"
FORGOTTEN: Final = "conductor {holder} lost track of it"
ORPHANED: Final = "no conductor was working on it any more"
ENDLESS: Final = "{purpose} did not end within {limit} seconds"


class _SeenLock(NamedTuple):
    """One reservation as it was seen in the table."""

    node_id: int
    holder: str
    token: str | None


@contextmanager
def _apart_from_others(node_id: int) -> Iterator[None]:
    """Log an error about one node, whose row may be damaged: the other ones must be freed all the same."""
    try:
        yield
    except (NodeNotFound, TakenOver) as error:
        LOG.debug("Node with id %s was freed by another process: %s", node_id, error)
    except TemporaryFailure:
        raise  # the database is away, which concerns all nodes
    except Exception:
        LOG.exception("The node with id %s in table nodes can't be freed; correct its row, or delete the node", node_id)


class TakeOver:
    """Frees nodes whose holder is gone."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager) -> None:
        self._tasks, self._hash_ring = tasks, hash_ring
        self._store, self._host = tasks.store, tasks.host
        self._suspects: set[_SeenLock] = set()

    def own(self, why: str) -> None:
        """Free every node held in this conductor's name; for its start and its end, when nothing is under way."""
        held = [lock for lock in self._all_locks() if lock.holder == self._host]
        if self._is_newest():
            for lock in held:
                self._free(lock, why)

    def of_the_dead(self) -> None:
        """Free nodes held by conductors without a fresh heartbeat, then fail nodes at work that are not locked."""
        alive = {conductor.hostname for conductor in self._store.conductors.alive(CONF.conductor.heartbeat_timeout)}
        for lock in self._all_locks():
            if lock.holder not in alive and lock.holder != self._host:
                self._free(lock, DEAD)
        self._fail_orphans()

    def forgotten(self) -> None:
        """Free nodes held in this conductor's name without a task, when two calls in a row have seen the same lock.

        That happens when the database went away just as a task released its node.
        """
        lost = {
            lock for lock in self._all_locks() if lock.holder == self._host and lock.node_id not in self._tasks.held
        }
        if self._is_newest():
            for lock in lost & self._suspects:
                self._free(lock, FORGOTTEN)
        self._suspects = lost

    def of_the_endless(self, limit: float) -> None:
        """Free nodes held here for longer than ``limit`` seconds; the work that held them can't write any more."""
        since = self._tasks.clock.monotonic() - limit
        for node_id, hold in list(self._tasks.held.items()):
            if hold.since < since:
                why = ENDLESS.format(purpose=hold.purpose, limit=int(limit))
                self._free(_SeenLock(node_id, self._host, hold.token), why, gives_up=True)
                self._tasks.locks.forget(node_id, hold)

    def _is_newest(self) -> bool:
        """Return whether no newer process has this conductor's name; then the locks seen before are all its own."""
        return self._store.conductors.is_newest(self._host, self._tasks.locks.incarnation)

    def _all_locks(self) -> list[_SeenLock]:
        rows = self._store.nodes.rows(("id", "reservation", "reservation_token"), filters={"reserved": True})
        return [_SeenLock(*row) for row in rows]

    def _free(self, lock: _SeenLock, why: str, *, gives_up: bool = False) -> None:
        """Free a node unless its lock has changed; ``gives_up``: end what it waits for too, ``why`` is complete."""

        def write(_connection: object) -> None:
            node = self._store.nodes.lock_row(lock.node_id)
            if (node.reservation, node.reservation_token) == (lock.holder, lock.token):
                self._end_work(node, lock.holder, why if gives_up else why.format(holder=lock.holder), gives_up)

        with _apart_from_others(lock.node_id):
            self._store.run(write, repeatable=True)

    def _end_work(self, node: "NodeRecord", holder: str, why: str, gives_up: bool) -> None:
        """Record why the work of the holder has ended, fail its operation and release the lock."""
        LOG.warning(
            "Node %s is freed from conductor %s in state '%s': %s", node.uuid, holder, node.provision_state, why
        )
        node.held_by, node.held_token = holder, node.reservation_token
        if node.target_power_state:
            text = f"Changing the power state to '{node.target_power_state}' was given up: {why}. Check the machine."
            node.target_power_state = None
            node_waits.end(node, power.SHUTDOWN)
            power.set_error(node, text)
        elif gives_up:
            node.last_error = transitions.shortened(f"Work on the node was given up: {why}. Check the machine.")
        if gives_up:
            node_waits.end_all(node)
        is_over = gives_up or transitions.is_failing(node)
        if node.provision_state in states.WORKING or (is_over and node.provision_state in states.WAITING):
            self._fail(node, why, release=True)
        else:
            self._store.nodes.save_and_release(node)

    def _fail_orphans(self) -> None:
        """Fail unlocked nodes in a working state; a node at work is locked, so this repairs what should not be.

        A machine may restart in an operation without a waiting state; another conductor goes on with that.
        """
        limit = self._store.clock.now() - timedelta(seconds=CONF.conductor.heartbeat_timeout)
        filters = {"provision_state_in": states.WORKING, "reserved": False, "provision_updated_before": limit}
        for row in self._store.nodes.rows(("id", "uuid", "driver", "conductor_group"), filters=filters):
            if self._hash_ring.is_mine(self._host, *row[1:]):
                with _apart_from_others(row[0]):
                    self._store.run(functools.partial(self._fail_orphan, row[0]), repeatable=True)

    def _fail_orphan(self, node_id: int, _connection: object) -> None:
        node = self._store.nodes.lock_row(node_id)
        is_left = node.reservation is None and node.provision_state in states.WORKING
        wait = self._store.node_waits.get(node_id, awaited_setting.KIND) if is_left else None
        if is_left and (wait is None or awaited_setting.is_overdue(wait, node)):
            self._fail(node, ORPHANED, release=False)

    def _fail(self, node: "NodeRecord", why: str, *, release: bool) -> None:
        # The step that was running stays on the node, for users to see.
        flow = in_state(node.provision_state)
        step = StepCursor.of(node, flow).position_text if flow and node.provision_state == flow.working else ""
        what = f"The operation in state '{node.provision_state}' was lost{step}"
        text = f"{what}: {why}. Check the machine and try again."
        transitions.set_fault(node, text)
        move = transitions.decide(node, "fail", target=None, last_error=text, clear_error=False)
        self._tasks.recorder.perform(service_context(), node, move, release=release)

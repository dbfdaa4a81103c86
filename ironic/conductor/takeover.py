"""Work that lost its conductor: the locks are freed, and what was under way is failed with a reason.

A conductor that starts cleans up after its earlier life; the living clean up after those whose heartbeat stopped; and
each looks for locks in its own name that no task of it holds. Every one of these is a single transaction that writes
only while the very reservation that was seen is still in the row, so two rescuers, a holder that was not dead, or a
newer life of the same name can't get in each other's way. No hardware is touched.
"""

import logging
import time
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from ironic.conductor import faults, moves
from ironic.conductor.tasks import Tasks
from ironic.conf import CONF
from ironic.core import states
from ironic.core.context import service_context
from ironic.core.errors import NodeNotFound, TakenOver
from ironic.core.flow import in_state
from ironic.core.step_cursor import StepCursor
from ironic.rpc.placement import Placement

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

RESTARTED: Final = "conductor {holder} was restarted"
STOPPED: Final = "conductor {holder} was stopped"
DEAD: Final = "conductor {holder} stopped giving signs of life"
FORGOTTEN: Final = "conductor {holder} lost track of it"
ORPHANED: Final = "no conductor was working on it any more"
ENDLESS: Final = "{purpose} did not end within {limit} seconds"


class _Lock(NamedTuple):
    """One reservation as it was seen."""

    node_id: int
    holder: str
    token: str | None


class TakeOver:
    """Frees nodes whose holder is gone."""

    def __init__(self, tasks: Tasks, placement: Placement) -> None:
        self._tasks, self._placement = tasks, placement
        self._store, self._host = tasks.store, tasks.host
        self._suspects: set[_Lock] = set()

    def own(self, why: str) -> None:
        """Free everything held in this conductor's name; for its start and its end, when nothing is under way."""
        held = self._held_by({self._host})
        if self._is_newest():
            for lock in held:
                self._free(lock, why)

    def of_the_dead(self) -> None:
        """Free what is held by conductors without a fresh heartbeat, then what nobody holds although it is at work."""
        alive = {conductor.hostname for conductor in self._store.conductors.alive(CONF.conductor.heartbeat_timeout)}
        for lock in self._held_by_others_than(alive | {self._host}):
            self._free(lock, DEAD)
        self._orphans()

    def forgotten(self) -> None:
        """Free what is held in this conductor's name without a task behind it, seen so twice in a row.

        That happens when the database went away just as a task gave its node back.
        """
        lonely = {lock for lock in self._held_by({self._host}) if lock.node_id not in self._tasks.held}
        if self._is_newest():
            for lock in lonely & self._suspects:
                self._free(lock, FORGOTTEN)
        self._suspects = lonely

    def of_the_endless(self, limit: float) -> None:
        """Free what has been held here for longer than so many seconds; whoever held it can't write any more."""
        since = time.monotonic() - limit
        for node_id, hold in list(self._tasks.held.items()):
            if hold.since < since:
                why = ENDLESS.format(purpose=hold.purpose, limit=int(limit))
                self._free(_Lock(node_id, self._host, hold.token), why, gives_up=True)
                self._tasks.locks.forget(node_id, hold)

    def _is_newest(self) -> bool:
        """Tell whether locks in this conductor's name that were seen before are no newer life's of the same name."""
        return self._store.conductors.is_newest(self._host, self._tasks.locks.incarnation)

    def _held_by(self, hosts: Collection[str]) -> list[_Lock]:
        return [lock for lock in self._all_held() if lock.holder in hosts]

    def _held_by_others_than(self, hosts: Collection[str]) -> list[_Lock]:
        return [lock for lock in self._all_held() if lock.holder not in hosts]

    def _all_held(self) -> list[_Lock]:
        rows = self._store.nodes.rows(("id", "reservation", "reservation_token"), filters={"reserved": True})
        return [_Lock(*row) for row in rows]

    def _free(self, lock: _Lock, why: str, *, gives_up: bool = False) -> None:
        """Free a node; ``gives_up`` ends what it waits for as well."""
        try:
            self._store.run(lambda _: self._free_now(lock, why, gives_up), repeatable=True)
        except (NodeNotFound, TakenOver) as error:
            LOG.debug("Node with id %s was freed by somebody else: %s", lock.node_id, error)

    def _free_now(self, lock: _Lock, why: str, gives_up: bool) -> None:
        node = self._store.nodes.lock_row(lock.node_id)
        if (node.reservation, node.reservation_token) == lock[1:]:
            self._end(node, lock.holder, why if gives_up else why.format(holder=lock.holder), gives_up)

    def _end(self, node: "NodeRecord", holder: str, why: str, gives_up: bool) -> None:
        LOG.warning(
            "Node %s is freed from conductor %s in state '%s': %s", node.uuid, holder, node.provision_state, why
        )
        node.held_by, node.held_token = holder, node.reservation_token
        if node.target_power_state:
            text = f"Changing the power state to '{node.target_power_state}' was given up: {why}. Check the machine."
            node.target_power_state, node.last_error = None, moves.shortened(text)
        elif gives_up:
            node.last_error = moves.shortened(f"Work on the node was given up: {why}. Check the machine.")
        if node.provision_state in states.WORKING or (gives_up and node.provision_state in states.WAITING):
            self._fail(node, why, release=True)
        else:
            self._store.nodes.save_and_release(node)

    def _orphans(self) -> None:
        """Fail nodes that are at work in nobody's hands; a node at work is held, so this mends what should not be."""
        limit = self._store.clock() - timedelta(seconds=CONF.conductor.heartbeat_timeout)
        filters = {"provision_state_in": states.WORKING, "reserved": False, "provision_updated_before": limit}
        for row in self._store.nodes.rows(("id", "uuid", "driver", "conductor_group"), filters=filters):
            if self._placement.is_mine(self._host, *row[1:]):
                self._adopt(row[0])

    def _adopt(self, node_id: int) -> None:
        with self._store.writing():
            node = self._store.nodes.lock_row(node_id)
            if node.reservation is None and node.provision_state in states.WORKING:
                self._fail(node, ORPHANED, release=False)

    def _fail(self, node: "NodeRecord", why: str, *, release: bool) -> None:
        what = f"The operation in state '{node.provision_state}' was lost{_whereabouts(node)}"
        text = f"{what}: {why}. Check the machine and try again."
        faults.mark(node, text)
        move = moves.decide(node, "fail", target=None, last_error=text, clear_error=False)
        self._tasks.recorder.perform(service_context(), node, move, release=release)


def _whereabouts(node: "NodeRecord") -> str:
    """Return in words which step was running; that stays on the node, for people to look at."""
    flow = in_state(node.provision_state)
    return StepCursor.of(node, flow).whereabouts if flow and node.provision_state == flow.working else ""

"""The allocator: finds a free node for each allocation and reserves it.

A conductor first claims an allocation, then selects the nodes that fit, and takes the first that is still free: node
and allocation are written in one transaction, by conditions, so that of two conductors that want a node one gets it and
the other tries further nodes. The living conductors continue what a dead one has left unfinished. Source:
doc/contract/allocations.md#whose-work-it-is.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.transitions import shortened
from ironic.conf import CONF
from ironic.core import allocation_matching as matching
from ironic.core.allocation_matching import AllocationRequest
from ironic.core.context import RequestContext, service_context
from ironic.core.errors import NodeNotFound, NoFreeConductorWorker, OwnersWorkersInUse
from ironic.core.errors.resource_errors import AllocationNotFound
from ironic.services import allocation_binding

if TYPE_CHECKING:
    from ironic.conductor.tasks import TaskFactory
    from ironic.db import AllocationRecord
    from ironic.db.allocations import CandidateRow

LOG = logging.getLogger(__name__)

_UNFINISHED: Final = {"state": matching.ALLOCATING}

# Pauses in seconds between the attempts, when all fitting nodes were locked; most locks are held for a moment.
_PAUSES: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0)

# So many nodes are tried per query; after that many lost races the list of free nodes is outdated.
_TRIES: Final = 20


class _Lost(Exception):
    """The allocation is no longer this conductor's: deleted, or taken over."""


@rpc_method
def process_allocation(tasks: "TaskFactory", context: RequestContext, allocation_id: str) -> None:
    """Start to find a node for a stored allocation, on a worker."""
    Allocator(tasks).start(context, allocation_id)


class Allocator:
    """One conductor's work on allocations."""

    def __init__(
        self,
        tasks: "TaskFactory",
        *,
        sleep: Callable[[float], object] | None = None,
        shuffle: Callable[[list[Any]], None] | None = None,
    ) -> None:
        self._store, self._pool, self._host, self._locks = tasks.store, tasks.pool, tasks.host, tasks.locks
        self._sleep, self._shuffle = sleep or tasks.clock.delay, shuffle or tasks.clock.chance.shuffle
        # An allocation claimed by this conductor that is not here was left unfinished by an earlier life of it.
        self._running = tasks.allocations

    def start(self, context: RequestContext, uuid: str) -> None:
        """Start on an allocation that was just stored, unless another conductor has claimed it already."""
        found, affinity, owner = self._store.allocations.row(("id", "conductor_affinity", "owner"), uuid)
        if affinity is None:
            self._begin(context, found, uuid, owner, after=None, background=False)

    def take_up(self) -> None:
        """Continue allocations that dead conductors, or this one in an earlier life, have left unfinished."""
        alive = {one.id: one.hostname for one in self._store.conductors.alive(CONF.conductor.heartbeat_timeout)}
        columns = ("id", "uuid", "conductor_affinity", "owner")
        try:
            for found, uuid, affinity, owner in self._store.allocations.rows(columns, filters=_UNFINISHED):
                if affinity not in alive or (alive[affinity] == self._host and found not in self._running):
                    LOG.warning("Allocation %s was left unfinished and is continued", uuid)
                    with contextlib.suppress(OwnersWorkersInUse):  # those of other owners are next
                        self._begin(service_context(), found, uuid, owner, after=affinity, background=True)
        except NoFreeConductorWorker:
            LOG.warning(
                "No worker is free for unfinished allocations on conductor %s; they are tried again later", self._host
            )

    def _begin(
        self,
        context: RequestContext,
        found: int,
        uuid: str,
        owner: str | None,
        *,
        after: int | None,
        background: bool,
    ) -> None:
        slot = self._pool.take(f"allocation {uuid}", owner, background=background)
        # Before the claim, because an allocation that is claimed in the table must be found here too.
        self._running.add(found)
        try:
            if self._store.allocations.claim(found, self._host, after=after, incarnation=self._locks.incarnation):
                slot.start(self._run, context, found, uuid)
            else:
                self._running.discard(found)
        except BaseException:
            self._running.discard(found)
            raise
        finally:
            slot.release()

    def _run(self, context: RequestContext, found: int, uuid: str) -> None:
        try:
            self._process(self._store.allocations.get(found))
        except (_Lost, AllocationNotFound):
            LOG.info("Allocation %s was deleted or taken over by another conductor", uuid)
        except Exception as error:
            LOG.exception("Allocation %s failed (request %s)", uuid, context.request_id)
            # Projects read it: the error may quote a statement, with nodes of others, or the host of the database.
            reason = f"Looking for a node failed unexpectedly ({type(error).__name__}). Try again, or ask an operator"
            self._fail(found, uuid, f"{reason} what the conductor's log says about request {context.request_id}.")
        finally:
            self._running.discard(found)

    def _process(self, allocation: "AllocationRecord") -> None:
        wanted = wanted_by(allocation)
        lost = 0
        for pause in (*_PAUSES, None):
            nodes = self._store.allocations.candidates(wanted)
            if any(self._take(node, allocation, wanted) for node in self._ordered(wanted, nodes)):
                return
            lost = len(nodes)
            if not nodes or pause is None:
                break
            if self._pool.is_draining:
                LOG.info("Allocation %s is left to another conductor, because this one stops", allocation.uuid)
                return
            self._sleep(pause)
        self._fail(allocation.id, allocation.uuid, matching.failure(wanted, lost))

    def _ordered(self, wanted: AllocationRequest, nodes: "list[CandidateRow]") -> "list[CandidateRow]":
        return matching.in_order(wanted, nodes, self._shuffle)[:_TRIES]

    def _take(self, candidate: "CandidateRow", allocation: "AllocationRecord", wanted: AllocationRequest) -> bool:
        """Bind a node to an allocation if it is still free and fits; return whether it was bound."""

        def bind(_connection: object) -> str | None:
            # Locked first: a node can't refer to an allocation that is deleted meanwhile.
            self._store.allocations.lock_row(allocation.id)
            if (reason := allocation_binding.bind_node(self._store, candidate.id, allocation, wanted)) is None:
                self._finish(allocation.id, {"state": matching.ACTIVE, "node_id": candidate.id, "last_error": None})
            return reason

        try:
            reason = self._store.run(bind)
        except NodeNotFound:
            reason = "it was deleted"
        if reason is None:
            LOG.info("Allocation %s got node %s", allocation.uuid, candidate.uuid)
        else:
            LOG.debug("Node %s is not for allocation %s: %s", candidate.uuid, allocation.uuid, reason)
        return reason is None

    def _finish(self, found: int, values: Mapping[str, object]) -> None:
        if not self._store.allocations.finish(found, self._host, values, self._locks.incarnation):
            raise _Lost()

    def _fail(self, found: int, uuid: str, reason: str) -> None:
        LOG.error("Allocation %s failed: %s", uuid, reason)
        try:
            self._finish(found, {"state": matching.ERROR, "last_error": shortened(reason)})
        except _Lost:
            LOG.info("Allocation %s was deleted or taken over by another conductor", uuid)


def wanted_by(allocation: "AllocationRecord") -> AllocationRequest:
    """Return the request of an allocation as the matching takes it."""
    return AllocationRequest(
        resource_class=allocation.resource_class,
        traits=allocation.traits,
        candidates=allocation.candidate_nodes,
        owner=allocation.owner,
        name=allocation.name,
    )

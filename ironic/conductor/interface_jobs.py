"""Periodic methods of interfaces as jobs of the conductor.

Each enabled implementation has its own (S18). A method for nodes gets those that this conductor owns and that use the
implementation, found in one statement; nodes that are locked are left for the next time.
"""

import functools
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ironic.conductor.jobs import Job
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.core.context import service_context
from ironic.core.errors import DriverLoadError, NodeLocked, NodeNotFound
from ironic.core.interface_kinds import interface_field
from ironic.drivers.periodic import NodeTerms, PeriodicMethod
from ironic.rpc.placement import Placement

if TYPE_CHECKING:
    from ironic.drivers.composition import Composition

LOG = logging.getLogger(__name__)


def jobs_of(composition: "Composition", tasks: Tasks, placement: Placement) -> list[Job]:
    """Return one job per periodic method; one that asks for what the store does not know stops the start."""
    methods = composition.periodic_methods()
    if faults := [fault for method in methods for fault in _faults(method, tasks)]:
        raise DriverLoadError(faults=faults)
    return [Job(method.title, method.terms.spacing, _act(method, tasks, placement)) for method in methods]


def _faults(method: PeriodicMethod, tasks: Tasks) -> Iterator[str]:
    wanted = method.terms.nodes
    if wanted is None:
        return
    if unknown := sorted(wanted.filters.keys() - tasks.store.nodes.filters.keys()):
        yield f"{method.title} filters nodes by {', '.join(unknown)}, which the store does not know"
    if unknown := sorted(set(wanted.extra_fields) - set(tasks.store.nodes.table.c.keys())):
        yield f"{method.title} wants {', '.join(unknown)} of nodes, which they don't have"


def _act(method: PeriodicMethod, tasks: Tasks, placement: Placement) -> Any:
    if method.terms.nodes is None:
        return functools.partial(_call, method, tasks)
    return functools.partial(_visit_nodes, method, method.terms.nodes, tasks, placement)


def _call(method: PeriodicMethod, tasks: Tasks) -> None:
    method.method(tasks, service_context())


def _visit_nodes(method: PeriodicMethod, wanted: NodeTerms, tasks: Tasks, placement: Placement) -> None:
    visited = 0
    for uuid in _mine(method, wanted, tasks, placement):
        if visited == wanted.limit:
            return
        visited += _visit(method, wanted, tasks, uuid)


def _mine(method: PeriodicMethod, wanted: NodeTerms, tasks: Tasks, placement: Placement) -> Iterator[str]:
    """Return the UUIDs of this conductor's nodes that chose the implementation."""
    filters = {interface_field(method.kind): method.name, **wanted.filters}
    for uuid, driver, group in tasks.store.nodes.rows(("uuid", "driver", "conductor_group"), filters=filters):
        if placement.is_mine(tasks.host, uuid, driver, group):
            yield uuid


def _visit(method: PeriodicMethod, wanted: NodeTerms, tasks: Tasks, uuid: str) -> bool:
    """Call the method for one node; tell whether the node was wanted. One node's trouble is no other's."""
    context = service_context()
    try:
        with tasks.acquire(
            context,
            uuid,
            shared=wanted.shared,
            purpose=wanted.purpose,
            retry=False,
            background=True,
            unasked=True,
        ) as task:
            if not _is_wanted(method, wanted, task):
                return False
            method.method(task, tasks, context, *(getattr(task.node, name) for name in wanted.extra_fields))
    except (NodeLocked, NodeNotFound) as error:
        LOG.debug("%s leaves node %s out this time: %s", method.title, uuid, error)
        return False
    except Exception:
        LOG.exception("Node %s: %s failed; it comes again", uuid, method.title)
    return True


def _is_wanted(method: PeriodicMethod, wanted: NodeTerms, task: Task) -> bool:
    """An instance may have put another implementation in the place of the node's own."""
    if getattr(task.driver, method.kind) is not method.interface:
        return False
    return wanted.predicate is None or bool(wanted.predicate(task.node))

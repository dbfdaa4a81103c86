"""The tasks of the conductor of this process, for third-party plug-ins that take nodes without a manager at hand."""

import threading
from typing import Final

from ironic.conductor.locking import LockMode
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core.context import RequestContext
from ironic.core.errors import InvalidParameterValue

_OF_PROCESS: Final[list[TaskFactory]] = []
_LOCK: Final = threading.Lock()


def use(tasks: TaskFactory) -> TaskFactory:
    """Make a factory that of this process; return it."""
    with _LOCK:
        _OF_PROCESS[:] = [tasks]
    return tasks


def acquire(
    context: RequestContext,
    node_id: str | int,
    shared: bool = False,
    purpose: str = "work of a plug-in",
    retry: bool = True,
    patient: bool = False,
) -> TaskManager:
    """Take a node (UUID, name or row id) and return the task that holds it; to be used in a ``with`` statement.

    ``retry`` false does not wait for a locked node, ``patient`` waits longest. Raises NodeLocked, NodeNotFound, the
    error that prevents building the driver, and InvalidParameterValue in a process without a conductor.
    """
    if not _OF_PROCESS:
        raise InvalidParameterValue(
            err=f"There is no conductor in this process, so node {node_id} can't be taken. Run the plug-in in one."
        )
    exclusive = LockMode.PATIENT if patient else (LockMode.EXCLUSIVE if retry else LockMode.PERIODIC)
    return _OF_PROCESS[0].acquire(context, node_id, LockMode.SHARED if shared else exclusive, purpose=purpose)

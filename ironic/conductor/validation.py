"""What interfaces need to know, and whether a node says it."""

import logging
from typing import Final

from ironic.conductor.answering import answers
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.core.context import RequestContext
from ironic.core.errors import Invalid
from ironic.core.interface_kinds import KINDS

LOG = logging.getLogger(__name__)

# What the vendor interface needs depends on the method called.
VALIDATED: Final = tuple(kind for kind in KINDS if kind != "vendor")


@answers
def driver_properties(tasks: Tasks, context: RequestContext, hardware_type: str) -> dict[str, str]:
    """Return what is asked of a node that chose no interfaces of its own, with a description of each property (S31)."""
    return tasks.composition.default_driver(hardware_type).get_properties()


@answers
def validate_interfaces(task: Task) -> dict[str, dict[str, object]]:
    """Return ``{kind: {"result": ..., "reason": ...}}``, never an error; a good interface gives no reason."""
    return {kind: _validate(task, kind) for kind in VALIDATED}


def _validate(task: Task, kind: str) -> dict[str, object]:
    try:
        task.driver.require(kind).validate(task)
    except Invalid as error:
        return {"result": False, "reason": str(error)}
    except Exception as error:
        LOG.exception("Node %s: validating the %s interface failed", task.node.uuid, kind)
        return {"result": False, "reason": f"Unexpected {type(error).__name__}: {error}"}
    return {"result": True}

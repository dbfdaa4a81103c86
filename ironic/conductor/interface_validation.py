"""Validate the interfaces of a node, and list the properties that a driver needs."""

import logging
from typing import Final

from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core.context import RequestContext
from ironic.core.errors import Invalid
from ironic.core.hardware_interfaces import KINDS

LOG = logging.getLogger(__name__)

# The vendor interface is left out: what it needs depends on the method called.
VALIDATED: Final = tuple(kind for kind in KINDS if kind != "vendor")


@rpc_method
def driver_properties(tasks: TaskFactory, context: RequestContext, hardware_type: str) -> dict[str, str]:
    """Return the driver_info properties of a node with the default interfaces: ``{name: description}`` (S31)."""
    return tasks.composition.default_driver(hardware_type).get_properties()


@rpc_method
def validate_interfaces(task: TaskManager) -> dict[str, dict[str, object]]:
    """Return ``{kind: {"result": ..., "reason": ...}}``, never an error; a valid interface has no reason."""
    return {kind: _validate(task, kind) for kind in VALIDATED}


def _validate(task: TaskManager, kind: str) -> dict[str, object]:
    try:
        task.driver.require(kind).validate(task)
    except Invalid as error:
        return {"result": False, "reason": str(error)}
    except Exception as error:
        LOG.exception("Node %s: validating the %s interface failed", task.node.uuid, kind)
        return {"result": False, "reason": f"Unexpected {type(error).__name__}: {error}"}
    return {"result": True}

"""Does the node satisfy its interfaces? One answer per kind, never an error.

The vendor interface has no answer of its own: what it needs depends on the method called.
"""

import logging
from typing import Any, Final

from ironic.conductor.task import Task
from ironic.core.errors import Invalid
from ironic.core.interface_kinds import KINDS

LOG = logging.getLogger(__name__)

VALIDATED: Final = tuple(kind for kind in KINDS if kind != "vendor")


def validate_interfaces(task: Task) -> dict[str, dict[str, Any]]:
    """Return ``{kind: {"result": ..., "reason": ...}}``; a good interface gives no reason."""
    return {kind: _validate(task, kind) for kind in VALIDATED}


def _validate(task: Task, kind: str) -> dict[str, Any]:
    try:
        task.driver.require(kind).validate(task)
    except Invalid as error:
        return {"result": False, "reason": str(error)}
    except Exception as error:
        LOG.exception("Node %s: validating the %s interface failed", task.node.uuid, kind)
        return {"result": False, "reason": f"Unexpected {type(error).__name__}: {error}"}
    return {"result": True}

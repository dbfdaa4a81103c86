"""Validate the interfaces of a node, and list the properties that a driver needs.

A validation that a user asks for checks the settings of the node, as each operation does before it begins, and then
tries the BMC. Few validations of a conductor try BMCs at a time: dead ones must not take the threads of the API.
"""

import logging
import threading
from collections import defaultdict
from typing import Final

from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core.context import RequestContext
from ironic.core.errors import Invalid
from ironic.core.errors.hardware_errors import DriverOperationError
from ironic.core.hardware_interfaces import KINDS
from ironic.drivers.contract.interfaces import BaseInterface
from ironic.drivers.contract.interfaces.base_interface import Survey
from ironic.drivers.contract.task import Task

LOG = logging.getLogger(__name__)

# The vendor interface is left out: what it needs depends on the method called.
VALIDATED: Final = tuple(kind for kind in KINDS if kind != "vendor")

_MOST_SURVEYS: Final = 8
_NOT_TRIED: Final = (
    f"The BMC was not tried, because {_MOST_SURVEYS} other validations of this conductor wait for theirs; repeat it "
    "later."
)

_surveys = threading.BoundedSemaphore(_MOST_SURVEYS)


@rpc_method
def driver_properties(tasks: TaskFactory, context: RequestContext, hardware_type: str) -> dict[str, str]:
    """Return the driver_info properties of a node with the default interfaces: ``{name: description}`` (S31)."""
    return tasks.composition.default_driver(hardware_type).get_properties()


@rpc_method
def validate_interfaces(task: TaskManager) -> dict[str, dict[str, object]]:
    """Return ``{kind: {"result": ..., "reason": ...}}``, never an error.

    A valid interface has a reason only if its BMC lacks what few steps need, or could not be tried now.
    """
    verdicts = {kind: _validate(task, kind) for kind in VALIDATED}
    surveyed: dict[Survey[Task], dict[str, BaseInterface]] = defaultdict(dict)
    for kind, verdict in verdicts.items():
        interface = getattr(task.driver, kind)
        if verdict["result"] and interface.survey is not None:
            surveyed[interface.survey][kind] = interface
    for survey, interfaces in surveyed.items():
        verdicts |= _try_bmc(task, survey, interfaces)
    return verdicts


def _validate(task: TaskManager, kind: str) -> dict[str, object]:
    try:
        interface = task.driver.require(kind)
        interface.validate(task)
        faults = [fault for directory in interface.written_directories() if (fault := directory.fault())]
    except Exception as error:
        return _verdict_of(task, f"the {kind} interface", error)
    return {"result": False, "reason": " ".join(faults)} if faults else {"result": True}


def _verdict_of(task: TaskManager, what: str, error: Exception) -> dict[str, object]:
    """Return the verdict for an error; one that is no answer about the node's settings or its BMC is logged."""
    if isinstance(error, Invalid | DriverOperationError):
        return {"result": False, "reason": str(error)}
    LOG.error("Node %s: validating %s failed", task.node.uuid, what, exc_info=error)
    return {"result": False, "reason": f"Unexpected {type(error).__name__}: {error}"}


def _try_bmc(
    task: TaskManager, survey: Survey[Task], interfaces: dict[str, BaseInterface]
) -> dict[str, dict[str, object]]:
    if not _surveys.acquire(blocking=False):
        return {kind: {"result": True, "reason": _NOT_TRIED} for kind in interfaces}
    try:
        found = survey.findings(task, interfaces)
        return {kind: {"result": not each.is_fault, "reason": each.text} for kind, each in found.items()}
    except Exception as error:
        return dict.fromkeys(interfaces, _verdict_of(task, f"the {' and '.join(interfaces)} interface", error))
    finally:
        _surveys.release()

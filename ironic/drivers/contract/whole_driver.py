"""Steps of a driver as a whole: running a step of any interface, and the clean steps of all interfaces in one list.

The engine runs the steps of a node through here. A step that fails raises the error that the flow's record names, such
as `CleanStepFailed`, whichever interface it belongs to and whatever a plug-in raises in it (S64).
"""

import logging
from collections.abc import Mapping
from typing import Any

from ironic.core.errors import IronicError, TakenOver, UnsupportedDriverExtension
from ironic.core.flows.flow import CLEAN, Flow
from ironic.drivers.contract.step_declarations import Suspended

LOG = logging.getLogger(__name__)


class WholeDriver:
    """What classic drivers and the driver of one node can do with their interfaces together."""

    __slots__ = ()

    def get_clean_steps(self, task: Any) -> list[dict[str, Any]]:
        """Return the enabled clean steps of all interfaces in the order in which they run.

        Each has at least the keys step, interface and priority. Of equal priorities, the order of interfaces decides.
        """
        found: list[dict[str, Any]] = []
        for kind in CLEAN.interfaces:
            if (interface := getattr(self, kind)) is not None:
                found += [step for step in interface.get_clean_steps(task) if step["priority"]]
        return sorted(found, key=lambda step: -step["priority"])

    def execute_clean_steps(self, task: Any, step: Mapping[str, Any]) -> str | None:
        """Run one of the steps; return CLEANWAIT if it continues asynchronously, otherwise None.

        Raises CleanStepFailed if the step fails. It may run again after a crash.
        """
        return self.execute_step(CLEAN, task, step)

    def execute_step(self, flow: Flow, task: Any, step: Mapping[str, Any]) -> str | None:
        """Run a step; return the waiting state of the flow if it continues asynchronously, otherwise None.

        A failure is raised as the flow's ``step_error`` where it has one.
        """
        kind = step["interface"]
        name = f"{kind}.{step['step']}"
        try:
            interface: Any = getattr(self, kind) if kind in flow.interfaces else None
            if interface is None:
                self.refuse(kind)
            result: str | None = interface.execute_step(flow.name, task, step)
            return result
        except (TakenOver, Suspended):
            raise
        except Exception as error:
            if flow.step_error is None or isinstance(error, flow.step_error):
                raise
            if not isinstance(error, IronicError):
                LOG.exception("Node %s: unexpected error in %s step %s", task.node.uuid, flow.name, name)
            raise flow.step_error(node=task.node.uuid, step=name, reason=error) from error

    def refuse(self, kind: str) -> Any:
        """Raise the reason why there is no interface of a kind."""
        raise UnsupportedDriverExtension(driver="of this node", extension=kind)

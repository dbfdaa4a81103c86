"""Clean steps of a driver as a whole: those of all its interfaces in one list, and running any of them.

The engine runs the clean steps of a node through here, so a step that fails raises `CleanStepFailed`, whichever
interface it belongs to and whatever a plug-in raises in it (S64).
"""

import logging
from collections.abc import Mapping
from typing import Any

from ironic.core.errors import CleanStepFailed, IronicError, TakenOver, UnsupportedDriverExtension
from ironic.core.steps import INTERFACES
from ironic.drivers.step_declarations import Suspended

LOG = logging.getLogger(__name__)


class WholeDriver:
    """What classic drivers and the driver of one node can do with their interfaces together."""

    __slots__ = ()

    def get_clean_steps(self, task: Any) -> list[dict[str, Any]]:
        """Return the enabled clean steps of all interfaces in the order in which they run.

        Each has at least the keys step, interface and priority. Of equal priorities, the order of interfaces decides.
        """
        found: list[dict[str, Any]] = []
        for kind in INTERFACES["clean"]:
            if (interface := getattr(self, kind)) is not None:
                found += [step for step in interface.get_clean_steps(task) if step["priority"]]
        return sorted(found, key=lambda step: -step["priority"])

    def execute_clean_steps(self, task: Any, step: Mapping[str, Any]) -> str | None:
        """Run one of the steps; return CLEANWAIT if it continues asynchronously, otherwise None.

        Raises CleanStepFailed if the step fails. It may run again after a crash.
        """
        kind = step["interface"]
        name = f"{kind}.{step['step']}"
        try:
            interface: Any = getattr(self, kind) if kind in INTERFACES["clean"] else None
            if interface is None:
                self.refuse(kind)
            result: str | None = interface.execute_step("clean", task, step)
            return result
        except (TakenOver, Suspended, CleanStepFailed):
            raise
        except Exception as error:
            if not isinstance(error, IronicError):
                LOG.exception("Node %s: unexpected error in clean step %s", task.node.uuid, name)
            raise CleanStepFailed(node=task.node.uuid, step=name, reason=error) from error

    def refuse(self, kind: str) -> Any:
        """Raise the reason why there is no interface of a kind."""
        raise UnsupportedDriverExtension(driver="of this node", extension=kind)

"""An inspection through Redfish that makes traits of what it has found, for machines of hardware type redfish."""

from typing import Any

from ironic.drivers.modules import inspect_utils
from ironic.drivers.modules.redfish.inspect import RedfishInspect
from ironic.drivers.redfish import RedfishHardware
from ironic.objects import TraitList


def _enter() -> None:
    before = RedfishHardware.supported_inspect_interfaces

    def listed(hardware_type: Any) -> Any:
        names = list(before.fget(hardware_type))  # type: ignore[attr-defined]
        names.append(RackfulInspect)
        return names

    RedfishHardware.supported_inspect_interfaces = property(listed)  # type: ignore[assignment, method-assign]


class RackfulInspect(RedfishInspect):
    """Is in no list of hardware type redfish until it is made."""

    def __init__(self) -> None:
        super().__init__()
        _enter()

    def inspect_hardware(self, task: Any) -> str:
        state = super().inspect_hardware(task)
        data = inspect_utils.get_inspection_data(task.node, task.context)
        number = len(data["inventory"]["interfaces"])
        names = set(task.node.traits.get_trait_names()) | {f"CUSTOM_CARDS_{number}"}
        TraitList.create(task.context, task.node.id, names)
        seen = dict(task.node.extra)
        seen["keys"] = sorted(data["plugin_data"])
        task.node.extra = seen
        task.node.save()
        return state

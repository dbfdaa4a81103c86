"""Firmware interface `redfish`: versions of components, and updates (`firmware_updates`)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.flows.node_waits import NodeWait
from ironic.drivers.contract.interfaces import FirmwareInterface
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.step_declarations import clean_step, deploy_step, service_step
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import looks
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.redfish.orders import firmware_list, waiting_step
from ironic.drivers.modules.redfish.orders.firmware_updates import BIOS, BMC, NIC, UPDATES
from ironic.drivers.modules.redfish.tree.bmc_survey import SURVEY, has_link
from ironic.drivers.modules.redfish.tree.flashed_versions import is_version
from ironic.drivers.modules.redfish.tree.members import bmc_of, seen_chassis, seen_members
from ironic.drivers.modules.redfish.tree.network_cards import is_chassis_of_one
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import System, optional, read

_LONGEST: Final = 255


class RedfishFirmware(FirmwareInterface):
    """Firmware through Redfish."""

    survey = SURVEY
    is_needed = False

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    def lacks(self, system: System) -> str | None:
        if not has_link(system.root, "UpdateService"):
            return "no service that updates firmware (UpdateService); choose firmware interface no-firmware"
        if not system.root.get_update_service().json.get("Actions", {}).get("#UpdateService.SimpleUpdate"):
            return "no firmware update from a URL (UpdateService.SimpleUpdate); versions can be listed"
        return None

    def cache_firmware_components(self, task: Task) -> None:
        """Store the versions that the BMC reports; raise UnsupportedDriverExtension when it reports none."""
        found = read(task, "reading the firmware components", _components)
        if not found:
            raise unsupported(task, "cache_firmware_components")
        known: dict[str, str | None] = dict(task.store.firmware.rows(("component", "current_version"), task.node.id))
        for item in found:
            name, version = item["component"], item["current_version"]
            if name in known and known[name] != version:
                item["last_version_flashed"] = version
        with task.writing():
            task.store.firmware.put(task.node.id, found)

    @clean_step(priority=0, argsinfo=firmware_list.UPDATES_ARGSINFO)
    @deploy_step(priority=0, argsinfo=firmware_list.UPDATES_ARGSINFO)
    @service_step(priority=0, argsinfo=firmware_list.UPDATES_ARGSINFO, requires_ramdisk=False)
    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        """Update components one after another."""
        return UPDATES.update(task, firmware_list.checked_updates(task.node.uuid, settings))

    @looks(UPDATES.kind, interval=lambda: CONF.redfish.firmware_update_status_interval)
    def look_at_firmware_update(self, task: Task, wait: NodeWait) -> Ended | None:
        """Continue the updates of a node; return how they have ended."""
        ended = UPDATES.watch(task, wait)
        if ended is not None:
            waiting_step.record(task, "its firmware versions are", self.cache_firmware_components)
        return ended


# Components


def _components(system: System) -> list[dict[str, Any]]:
    found = [_item(BIOS, system.bios_version)]
    # Another manager's version would be a flash of the BMC that never was.
    if (manager := optional(lambda: bmc_of(system), None)) is not None:
        found.append(_item(BMC, manager.firmware_version, model=manager.model))
    # HPE answers with an error while the machine is off.
    adapters = _adapters(system)
    serials = Counter(adapter.serial_number for adapter in adapters)
    for adapter in adapters:
        # Some BMCs give all cards one number, as "N/A".
        is_named = (adapter.serial_number or "").strip() and serials[adapter.serial_number] == 1
        name = adapter.serial_number if is_named else adapter.identity
        versions = [controller.firmware_package_version for controller in adapter.controllers or ()]
        version = next((version for version in versions if version), None)
        found.append(
            _item(
                f"{NIC}{name}",
                version,
                model=adapter.model,
                vendor=adapter.manufacturer,
                serial_number=adapter.serial_number,
            )
        )
    return [item for item in found if is_version(item["current_version"])]


def _adapters(system: System) -> tuple[Any, ...]:
    """Return the network adapters of the first chassis that has any and no other machine, of those that can be read.

    Where the machine does not say which its chassis are, one that says whose it is can be taken as well.
    """
    own = (chassis for chassis in seen_chassis(system).items if is_chassis_of_one(system, chassis))
    seen = (seen_members(chassis, "network_adapters") for chassis in own)
    first = next((one for one in seen if one.items or one.missing), None)
    return first.items if first is not None else ()


def _item(component: str, version: object, **more: object) -> dict[str, Any]:
    values = {"component": component, "current_version": version, **more}
    return {name: value[:_LONGEST] if isinstance(value, str) else None for name, value in values.items()}

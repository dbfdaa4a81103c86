"""Firmware interface `redfish`: versions of components, and updates (`firmware_updates`)."""

from collections.abc import Mapping, Sequence

from ironic.conf import CONF
from ironic.core.flows.node_waits import NodeWait
from ironic.drivers.contract.interfaces import FirmwareInterface
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.step_declarations import clean_step, deploy_step, service_step
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import looks
from ironic.drivers.contract.waits import Ended
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.orders import firmware_list, waiting_step
from ironic.drivers.modules.redfish.orders.firmware_updates import SIMPLE_UPDATE, UPDATES
from ironic.drivers.modules.redfish.tree.certainty import target_of
from ironic.drivers.modules.redfish.tree.flashed_versions import components_of
from ironic.drivers.modules.redfish.tree.members import has_link
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_system import System


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
        if target_of(system.root.get_update_service(), SIMPLE_UPDATE) is None:
            return "no firmware update from a URL (UpdateService.SimpleUpdate); versions can be listed"
        return None

    def cache_firmware_components(self, task: Task) -> None:
        """Store the versions that the BMC reports; raise UnsupportedDriverExtension when it reports none."""
        found = read(task, "reading the firmware components", components_of)
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

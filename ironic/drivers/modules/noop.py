"""No-op interfaces for machines that lack a feature (S5), and the base of interfaces without driver_info properties.

A user's request is refused with UnsupportedDriverExtension. What the service does on its own account, such as cleaning
up or refreshing a cache, succeeds and does nothing. Only the deploy interface accepts everything: machines with it are
deployed by other means.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ironic.core.bmc_readings import Console
from ironic.core.errors import ChosenInterfaceLacksFeature, UnsupportedDriverExtension
from ironic.core.flows import states
from ironic.drivers.contract.interfaces import (
    BaseInterface,
    BIOSInterface,
    ConsoleInterface,
    DeployInterface,
    FirmwareInterface,
    InspectInterface,
    RAIDInterface,
    RescueInterface,
    VendorInterface,
)
from ironic.drivers.contract.interfaces.base_interface import unsupported
from ironic.drivers.contract.step_declarations import deploy_step
from ironic.drivers.contract.task import Task


class NoProperties(BaseInterface):
    """Base for interfaces without driver_info properties; every node is valid."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task) -> None:
        pass


class UnsupportedFeature(BaseInterface):
    """Base for interfaces that a machine lacks: validation fails, so that a user's request is refused."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task, *args: Any, **kwargs: Any) -> None:
        kind = self.interface_type
        node = task.node
        chosen = getattr(node, f"{kind}_interface") or f"no-{kind}"
        if others := [name for name in task.choices(kind) if name != chosen]:
            remedy = f"Choose another: baremetal node set {node.uuid} --{kind}-interface {' or '.join(others)}."
        else:
            remedy = f"Hardware type {node.driver} has no other one here (option enabled_{kind}_interfaces)."
        raise ChosenInterfaceLacksFeature(
            driver=node.driver, extension=kind, node=node.uuid, interface=chosen, remedy=remedy
        )


class NoBIOS(UnsupportedFeature, BIOSInterface):
    """No access to BIOS settings."""

    def apply_configuration(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        raise unsupported(task, "bios.apply_configuration")

    def factory_reset(self, task: Task) -> str | None:
        raise unsupported(task, "bios.factory_reset")

    def cache_bios_settings(self, task: Task) -> None:
        pass


class NoConsole(UnsupportedFeature, ConsoleInterface):
    """No console."""

    def start_console(self, task: Task) -> None:
        raise unsupported(task, "console.start_console")

    def stop_console(self, task: Task) -> None:
        """Do nothing: no console is open. A user's request has been refused by :meth:`validate`."""

    def get_console(self, task: Task) -> Console:
        raise unsupported(task, "console.get_console")


class NoFirmware(UnsupportedFeature, FirmwareInterface):
    """No firmware updates."""

    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        raise unsupported(task, "firmware.update")

    def cache_firmware_components(self, task: Task) -> None:
        pass


class NoInspect(UnsupportedFeature, InspectInterface):
    """No inspection."""

    def inspect_hardware(self, task: Task) -> str:
        raise unsupported(task, "inspect.inspect_hardware")

    def continue_inspection(
        self, task: Task, inventory: Mapping[str, object], plugin_data: dict[str, object] | None = None
    ) -> str | None:
        raise unsupported(task, "inspect.continue_inspection")


class NoRAID(UnsupportedFeature, RAIDInterface):
    """No RAID."""

    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        raise unsupported(task, "raid.create_configuration")

    def delete_configuration(self, task: Task) -> str | None:
        raise unsupported(task, "raid.delete_configuration")

    def validate_raid_config(self, task: Task, raid_config: dict[str, object]) -> None:
        raise unsupported(task, "raid.validate_raid_config")

    def get_logical_disk_properties(self) -> dict[str, str]:
        # There is no node to name here; the caller knows the driver.
        raise UnsupportedDriverExtension(driver="without RAID", extension="logical disks")


class NoRescue(UnsupportedFeature, RescueInterface):
    """No rescue mode."""

    def rescue(self, task: Task) -> str:
        raise unsupported(task, "rescue.rescue")

    def unrescue(self, task: Task) -> str:
        raise unsupported(task, "rescue.unrescue")


class NoVendor(UnsupportedFeature, VendorInterface):
    """No vendor methods."""

    def driver_validate(self, method: str, **kwargs: Any) -> None:
        # There is no node to name here; the caller knows the driver.
        raise UnsupportedDriverExtension(driver="without vendor methods", extension=f"vendor method {method}")


class NoDeploy(NoProperties, DeployInterface):
    """The machine is deployed by other means; the service only records its states."""

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        return None

    def tear_down(self, task: Task) -> str | None:
        return states.DELETED

    def prepare(self, task: Task) -> None:
        pass

    def clean_up(self, task: Task) -> None:
        pass

    def validate_adoption(self, task: Task) -> None:
        pass

    def take_over(self, task: Task) -> None:
        pass

"""Implementations that stand for "this machine has none" (S5).

What a user asks for is refused with UnsupportedDriverExtension; what the service does on its own account, such as
cleaning up or refreshing a cache, goes through and does nothing. Only the deploy interface accepts everything: with
it, people deploy the machine by other means.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ironic.core import states
from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.machine_documents import Console
from ironic.drivers.interfaces import (
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
from ironic.drivers.interfaces.base import unsupported
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.steps import deploy_step
from ironic.drivers.task import Task


class Refusing(BaseInterface):
    """Needs nothing of a node and is never valid for a user's request."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task, *args: Any, **kwargs: Any) -> None:
        raise unsupported(task, self.interface_type)


class NoBIOS(Refusing, BIOSInterface):
    """No access to BIOS settings."""

    def apply_configuration(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        raise unsupported(task, "bios.apply_configuration")

    def factory_reset(self, task: Task) -> str | None:
        raise unsupported(task, "bios.factory_reset")

    def cache_bios_settings(self, task: Task) -> None:
        pass


class NoConsole(Refusing, ConsoleInterface):
    """No console."""

    def start_console(self, task: Task) -> None:
        raise unsupported(task, "console.start_console")

    def stop_console(self, task: Task) -> None:
        """Nothing is open; a user who asks for it has been refused by :meth:`validate` before."""

    def get_console(self, task: Task) -> Console:
        raise unsupported(task, "console.get_console")


class NoFirmware(Refusing, FirmwareInterface):
    """No firmware updates."""

    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        raise unsupported(task, "firmware.update")

    def cache_firmware_components(self, task: Task) -> None:
        pass


class NoInspect(Refusing, InspectInterface):
    """No inspection."""

    def inspect_hardware(self, task: Task) -> str:
        raise unsupported(task, "inspect.inspect_hardware")

    def continue_inspection(
        self, task: Task, inventory: Mapping[str, object], plugin_data: dict[str, object] | None = None
    ) -> str | None:
        raise unsupported(task, "inspect.continue_inspection")


class NoRAID(Refusing, RAIDInterface):
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
        # There is no node here to name; which driver was asked the caller knows.
        raise UnsupportedDriverExtension(driver="without RAID", extension="logical disks")


class NoRescue(Refusing, RescueInterface):
    """No rescue mode."""

    def rescue(self, task: Task) -> str:
        raise unsupported(task, "rescue.rescue")

    def unrescue(self, task: Task) -> str:
        raise unsupported(task, "rescue.unrescue")


class NoVendor(Refusing, VendorInterface):
    """No vendor methods."""

    def driver_validate(self, method: str, **kwargs: Any) -> None:
        # There is no node here to name; which driver was asked the caller knows.
        raise UnsupportedDriverExtension(driver="without vendor methods", extension=f"vendor method {method}")


class NoDeploy(Undemanding, DeployInterface):
    """People put the system on the machine by other means; the service only keeps the books."""

    @deploy_step(priority=100)
    def deploy(self, task: Task) -> str | None:
        return None

    def tear_down(self, task: Task) -> str | None:
        return states.DELETED

    def prepare(self, task: Task) -> None:
        pass

    def clean_up(self, task: Task) -> None:
        pass

    def take_over(self, task: Task) -> None:
        pass

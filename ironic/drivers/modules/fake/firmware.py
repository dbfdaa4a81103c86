"""Firmware of a fake machine: it remembers which update each component got last."""

from collections.abc import Mapping, Sequence
from typing import Final

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.interfaces import FirmwareInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.refreshing import cache_firmware_components
from ironic.drivers.steps import clean_step
from ironic.drivers.task import Task

_UPDATES: Final = "fake_firmware"
_LONGEST: Final = 255


class FakeFirmware(Undemanding, FirmwareInterface):
    """Takes any update."""

    @clean_step(
        priority=0,
        argsinfo={"settings": {"description": "Updates to apply, each with a component and a URL.", "required": True}},
    )
    @cache_firmware_components
    def update(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        try:
            updates = {setting["component"]: setting["url"] for setting in settings}
        except (TypeError, KeyError) as error:
            raise InvalidParameterValue(
                err=f"Firmware updates for node {task.node.uuid} must be a list, each with component and url."
            ) from error
        delay("firmware")
        known = task.node.driver_internal_info.get(_UPDATES) or {}
        task.node.set_driver_internal_info(_UPDATES, {**known, **updates})
        task.node.save()
        return None

    def cache_firmware_components(self, task: Task) -> None:
        """Read the versions of the machine: each component is at what it was updated to last."""
        delay("firmware")
        updates = task.node.driver_internal_info.get(_UPDATES) or {}
        components = [
            {"component": component, "current_version": version, "last_version_flashed": version}
            for component, version in ((component, _version(url)) for component, url in updates.items())
        ]
        with task.writing():
            task.store.firmware.sync(task.node.id, components)


def _version(url: str) -> str:
    """Read the version of an update off the name of its file."""
    return url.rstrip("/").rpartition("/")[2][:_LONGEST]

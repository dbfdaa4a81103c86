"""BIOS settings of a fake machine: whatever was set, kept with the node."""

from collections.abc import Mapping, Sequence
from typing import Final

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.interfaces import BIOSInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.refreshing import cache_bios_settings
from ironic.drivers.steps import clean_step, deploy_step, service_step
from ironic.drivers.task import Task

_SETTINGS: Final = "fake_bios"


class FakeBIOS(Undemanding, BIOSInterface):
    """Takes any setting; fresh from the factory it has none."""

    @clean_step(
        priority=0,
        argsinfo={"settings": {"description": "Settings to apply, each with a name and a value.", "required": True}},
    )
    @cache_bios_settings
    def apply_configuration(self, task: Task, settings: Sequence[Mapping[str, object]]) -> str | None:
        try:
            wanted = {setting["name"]: setting["value"] for setting in settings}
        except (TypeError, KeyError) as error:
            raise InvalidParameterValue(
                err=f"BIOS settings for node {task.node.uuid} must be a list, each with name and value."
            ) from error
        delay("bios")
        task.node.set_driver_internal_info(_SETTINGS, {**self._settings(task), **wanted})
        task.node.save()
        return None

    @clean_step(priority=0)
    @deploy_step(priority=0)
    @service_step(priority=0)
    @cache_bios_settings
    def factory_reset(self, task: Task) -> str | None:
        delay("bios")
        task.node.del_driver_internal_info(_SETTINGS)
        task.node.save()
        return None

    @clean_step(priority=0)
    def cache_bios_settings(self, task: Task) -> None:
        """Read the settings of the machine, which is no more than a few notes with the node."""
        delay("bios")
        known = self._settings(task).items()
        settings = [{"name": name, "value": None if value is None else str(value)} for name, value in known]
        with task.writing():
            task.store.bios_settings.sync(task.node.id, settings)

    def _settings(self, task: Task) -> dict[str, object]:
        return dict(task.node.driver_internal_info.get(_SETTINGS) or {})

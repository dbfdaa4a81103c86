"""RAID interface `agent`: logical disks made by the agent's hardware manager, in software or on a controller.

The agent reads the wish from the node's ``target_raid_config`` and says what it has made; that becomes ``raid_config``,
and the root volume among it the disk that images are written to. Source: doc/contract/agent.md#raid.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.drivers import node_facts
from ironic.drivers.interfaces import RAIDInterface
from ironic.drivers.interfaces.raid_config import RAID_APPLY_CONFIGURATION_ARGSINFO
from ironic.drivers.modules.agent import in_band
from ironic.drivers.modules.agent.runs_in_band import RunsInBand
from ironic.drivers.steps import clean_step, deploy_step, service_step
from ironic.drivers.task import Task

_APPLY_ARGSINFO: Final = {name: RAID_APPLY_CONFIGURATION_ARGSINFO[name] for name in ("raid_config", "delete_existing")}

_SOFTWARE: Final = "software"
_MOST_IN_SOFTWARE: Final = 2


class AgentRAID(RunsInBand, RAIDInterface):
    """Has an agent make and remove logical disks."""

    def validate_raid_config(self, task: Task, raid_config: dict[str, Any]) -> None:
        super().validate_raid_config(task, raid_config)
        of_software = [disk.get("controller") == _SOFTWARE for disk in raid_config["logical_disks"]]
        if any(of_software) and not (all(of_software) and len(of_software) <= _MOST_IN_SOFTWARE):
            raise InvalidParameterValue(
                err=f"The RAID configuration for node {task.node.uuid} is wrong: with controller {_SOFTWARE} there can "
                f"be at most {_MOST_IN_SOFTWARE} logical disks, all of them in software."
            )

    # The steps; the agent does them

    @clean_step(priority=0)
    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        """Make the logical disks of the target; the agent makes all of them, or none when there is no target."""
        return _begin(task, "create_configuration")

    @clean_step(priority=0)
    def delete_configuration(self, task: Task) -> str | None:
        return _begin(task, "delete_configuration")

    @deploy_step(priority=0, argsinfo=_APPLY_ARGSINFO)
    @service_step(priority=0, argsinfo=_APPLY_ARGSINFO)
    def apply_configuration(
        self,
        task: Task,
        raid_config: dict[str, object],
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        self.validate_raid_config(task, raid_config)
        task.node.target_raid_config = raid_config
        task.node.save()
        return _begin(task, "apply_configuration", raid_config=raid_config, delete_existing=delete_existing)

    def take_result(self, task: Task, step: Mapping[str, object], result: object) -> None:
        """Note what logical disks there are now."""
        if step["step"] == "delete_configuration":
            task.node.raid_config = {}
        elif isinstance(result, Mapping) and isinstance(result.get("logical_disks"), list) and result["logical_disks"]:
            now = datetime.now(UTC).replace(tzinfo=None).isoformat()
            task.node.raid_config = {**result, "last_updated": now}
            _use_root_volume(task, result["logical_disks"])


def _begin(task: Task, step: str, **args: Any) -> str | None:
    asked: dict[str, Any] = {"interface": "raid", "step": step}
    return in_band.begin(task, in_band.flow_of(task.node), {**asked, "args": args} if args else asked)


def _use_root_volume(task: Task, disks: Sequence[object]) -> None:
    """Have images written to the root volume, and tell schedulers its size and level."""
    roots = [disk for disk in disks if isinstance(disk, Mapping) and disk.get("is_root_volume")]
    if len(roots) != 1:
        return
    root, properties = roots[0], task.node.properties
    if isinstance(root.get("root_device_hint"), Mapping):
        properties["root_device"] = root["root_device_hint"]
    if isinstance(root.get("size_gb"), int):
        properties["local_gb"] = root["size_gb"]
    if isinstance(root.get("raid_level"), str):
        node_facts.add_capability(task, "raid_level", root["raid_level"])

"""RAID interface `agent`: the agent's hardware manager creates logical disks in software or on a controller.

The agent reads the node's ``target_raid_config`` and reports what it has created. That becomes ``raid_config``, and its
root volume the disk that images are written to. Source: doc/contract/agent.md#raid.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.memory import own_values
from ironic.core.readings import ABSENT, Known, Unreadable, Value, Whole
from ironic.core.values import root_device_hints
from ironic.drivers.contract.interfaces import RAIDInterface
from ironic.drivers.contract.interfaces.raid import RAID_APPLY_CONFIGURATION_ARGSINFO, RAID_LEVELS
from ironic.drivers.contract.step_declarations import clean_step, deploy_step, service_step
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent import in_band_steps
from ironic.drivers.modules.agent.in_band_steps import InBandSteps
from ironic.drivers.nodes import node_attributes

LOG = logging.getLogger(__name__)

_APPLY_ARGSINFO: Final = {name: RAID_APPLY_CONFIGURATION_ARGSINFO[name] for name in ("raid_config", "delete_existing")}

_SOFTWARE: Final = "software"
_MOST_IN_SOFTWARE: Final = 2


class AgentRAID(InBandSteps, RAIDInterface):
    """Creates and deletes logical disks through the agent."""

    def validate_raid_config(self, task: Task, raid_config: dict[str, Any]) -> None:
        super().validate_raid_config(task, raid_config)
        of_software = [disk.get("controller") == _SOFTWARE for disk in raid_config["logical_disks"]]
        if any(of_software) and not (all(of_software) and len(of_software) <= _MOST_IN_SOFTWARE):
            raise InvalidParameterValue(
                err=f"The RAID configuration for node {task.node.uuid} is wrong: with controller {_SOFTWARE} there can "
                f"be at most {_MOST_IN_SOFTWARE} logical disks, all of them in software."
            )

    # The steps, which the agent runs

    @clean_step(priority=0)
    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        """Create the logical disks of the target; the agent creates all of them, or none without a target."""
        return _start(task, "create_configuration")

    @clean_step(priority=0)
    def delete_configuration(self, task: Task) -> str | None:
        return _start(task, "delete_configuration")

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
        return _start(task, "apply_configuration", raid_config=raid_config, delete_existing=delete_existing)

    def process_step_result(self, task: Task, step: Mapping[str, object], result: object) -> None:
        """Store the logical disks that the agent reports, and use the root volume for images and scheduling."""
        if step["step"] == "delete_configuration":
            _forget_root_volume(task)
            task.node.raid_config = {}
            return
        disks = _reported_disks(result)
        if isinstance(disks, Unreadable):
            LOG.warning("Node %s: raid_config stays as it was, as %s", task.node.uuid, disks.error)
        elif isinstance(disks, Known):
            _store(task, result, disks.value)


def _reported_disks(result: object) -> Value[Whole[Mapping[str, object]]]:
    """Return the logical disks that the agent reports; a report without any has none to store."""
    disks = result.get("logical_disks") if isinstance(result, Mapping) else None
    if disks is None or disks == []:
        return ABSENT
    if isinstance(disks, list) and all(map(_can_be_read, disks)):
        return Known(Whole(disks))
    return Unreadable(ValueError("the agent reports logical disks that can't be read"))


def _store(task: Task, result: Any, disks: Whole[Mapping[str, object]]) -> None:
    _forget_root_volume(task)
    task.node.raid_config = {**result, "last_updated": task.node.now().isoformat()}
    roots = [disk for disk in disks if disk.get("is_root_volume")]
    if len(roots) == 1:
        _use_root_volume(task, roots[0])


def _can_be_read(disk: object) -> bool:
    """Return whether a reported logical disk is an object that says whether it is the root volume."""
    return isinstance(disk, Mapping) and disk.get("is_root_volume") in (None, True, False)


def _start(task: Task, step: str, **args: Any) -> str | None:
    requested: dict[str, Any] = {"interface": "raid", "step": step} | ({"args": args} if args else {})
    return in_band_steps.start_step(task, in_band_steps.flow_of(task.node), requested)


def _root_volumes(raid_config: Mapping[str, Any]) -> list[Mapping[str, object]]:
    disks = raid_config.get("logical_disks") or ()
    return [disk for disk in disks if isinstance(disk, Mapping) and disk.get("is_root_volume")]


def _use_root_volume(task: Task, root: Mapping[str, object]) -> None:
    """Set the root volume as the root device, and its size and RAID level as properties for schedulers."""
    node, hint, size = task.node, root.get("root_device_hint"), root.get("size_gb")
    if hint and isinstance(hint, Mapping):
        if wrong := root_device_hints.faults(hint):
            # Every deployment would be refused for it.
            LOG.warning("Node %s: the agent's hint for its root volume is left out: %s", node.uuid, "; ".join(wrong))
        else:
            own_values.write(node, "properties", "root_device", dict(hint))
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        own_values.write(node, "properties", "local_gb", size)
    if (level := root.get("raid_level")) in RAID_LEVELS:
        node_attributes.lend_capability(node, "raid_level", str(level))
    node.save()


def _forget_root_volume(task: Task) -> None:
    """Take back what a root volume that is gone has set, also by a release that did not remember it."""
    node = task.node
    own_values.take_back(node, "properties")
    for root in _root_volumes(node.raid_config or {}):
        if root.get("root_device_hint") and node.properties.get("root_device") == root["root_device_hint"]:
            del node.properties["root_device"]

"""Logical disks on a machine's disk controllers."""

from abc import abstractmethod
from typing import ClassVar

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.interfaces import raid_config as shape
from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.task import Task


class RAIDInterface(BaseInterface):
    """RAID configuration: the node's target_raid_config is the wish, its raid_config what was achieved."""

    interface_type: ClassVar[str] = "raid"

    def get_properties(self) -> dict[str, str]:
        """Return the names this interface understands in driver_info: usually none."""
        return {}

    def validate(self, task: Task) -> None:
        """Check the node's target configuration, if it has one."""
        if task.node.target_raid_config:
            self.validate_raid_config(task, task.node.target_raid_config)

    def validate_raid_config(self, task: Task, raid_config: dict[str, object]) -> None:
        """Raise InvalidParameterValue with everything that is wrong with a configuration."""
        if found := shape.faults(raid_config):
            raise InvalidParameterValue(
                err=f"The RAID configuration for node {task.node.uuid} is wrong: {'; '.join(found)}."
            )

    def apply_configuration(
        self,
        task: Task,
        raid_config: dict[str, object],
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        """Make a configuration the node's target and create it; the wait state of the flow or None."""
        self.validate_raid_config(task, raid_config)
        task.node.target_raid_config = raid_config
        task.node.save()
        return self.create_configuration(
            task,
            create_root_volume=create_root_volume,
            create_nonroot_volumes=create_nonroot_volumes,
            delete_existing=delete_existing,
        )

    @abstractmethod
    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        """Create the logical disks of the target configuration; the wait state or None."""

    @abstractmethod
    def delete_configuration(self, task: Task) -> str | None:
        """Delete all logical disks; the wait state or None. May be repeated."""

    def get_logical_disk_properties(self) -> dict[str, str]:
        """Return what can be said about a logical disk, each with a sentence for people."""
        return shape.describe()

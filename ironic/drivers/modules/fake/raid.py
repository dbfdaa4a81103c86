"""RAID of a fake machine: every configuration can be created."""

from typing import Any

from ironic.core.errors import MissingParameterValue
from ironic.drivers.interfaces import RAIDInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.task import Task


class FakeRAID(RAIDInterface):
    """Makes the wished configuration the real one."""

    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        node = task.node
        if not node.target_raid_config:
            raise MissingParameterValue(err=f"Node {node.uuid} has no target RAID configuration to create.")
        delay("raid")
        wanted = {True: create_root_volume, False: create_nonroot_volumes}
        disks: list[Any] = [] if delete_existing else list(node.raid_config.get("logical_disks", ()))
        for disk in node.target_raid_config["logical_disks"]:
            if wanted[bool(disk.get("is_root_volume"))]:
                disks.append(disk)
        node.raid_config = {"logical_disks": disks}
        node.save()
        return None

    def delete_configuration(self, task: Task) -> str | None:
        delay("raid")
        task.node.raid_config = {}
        task.node.save()
        return None

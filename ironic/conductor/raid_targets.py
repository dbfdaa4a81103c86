"""Which logical disks a machine is to have: noted on the node, created by a step of its RAID interface."""

from typing import Any

from ironic.conductor.task import Task


def choose(task: Task, config: dict[str, Any]) -> None:
    """Make a configuration the node's target once its RAID interface takes it; an empty one is no target."""
    raid = task.driver.require("raid")
    task.node.target_raid_config = config
    # An interface that has no RAID says so here, whatever the target.
    raid.validate(task)
    if config:
        raid.validate_raid_config(task, config)
    task.node.save()

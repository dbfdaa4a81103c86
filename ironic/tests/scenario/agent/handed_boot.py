"""A third party's boot interface for machines that read their kernel command line from a file.

The file named in driver_info stands for everything by which a ramdisk is brought to a machine: while it exists the
machine boots the ramdisk, with the parameters in it; without it, what is on its disk.
"""

import os
from collections.abc import Mapping
from typing import Any

from ironic.common import exception
from ironic.drivers import base

KEY = "handed_command_line"


class HandedBoot(base.BootInterface):
    """Boots ramdisks for whatever needs one."""

    def get_properties(self) -> dict[str, str]:
        return {KEY: "File in which the machine finds its kernel command line. Required."}

    def validate(self, task: Any) -> None:
        if not task.node.driver_info.get(KEY):
            raise exception.MissingParameterValue(f"driver_info of node {task.node.uuid} lacks {KEY}.")

    validate_rescue = validate_inspection = validate

    def prepare_ramdisk(self, task: Any, ramdisk_params: Mapping[str, Any]) -> None:
        words = [name if value is None else f"{name}={value}" for name, value in ramdisk_params.items()]
        with open(task.node.driver_info[KEY], "w") as file:
            file.write(" ".join(words) + "\n")

    def clean_up_ramdisk(self, task: Any) -> None:
        if os.path.exists(task.node.driver_info[KEY]):
            os.remove(task.node.driver_info[KEY])

    def prepare_instance(self, task: Any) -> None:
        pass

    def clean_up_instance(self, task: Any) -> None:
        pass

"""Which keys of its node the released agent reads; run with the Python of the agent's environment.

The functions that the agent asks about its cached node are called with a mapping that notes what is read. No command
runs: the agent's runner and the library below it refuse, and no function that changes a disk is called.
"""

import contextlib
import importlib
import json
import logging
import subprocess
import sys
from typing import Any
from unittest import mock

from ironic_python_agent import config

config.populate_config()

hardware = importlib.import_module("ironic_python_agent.hardware")  # reads options when it is imported
utils = importlib.import_module("ironic_python_agent.utils")

seen: set[str] = set()


class Noting(dict[str, Any]):
    """A mapping that notes the paths that are asked for."""

    def __init__(self, path: str, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._path = path

    def _note(self, key: str, value: Any) -> Any:
        path = f"{self._path}{key}"
        seen.add(path)
        return Noting(f"{path}.", value) if isinstance(value, dict) else value

    def __getitem__(self, key: str) -> Any:
        return self._note(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return self._note(key, super().get(key, default))


def node() -> Noting:
    """Return a node as look-ups show it, without any key that could stop the search for others."""
    return Noting("", {"uuid": "u", "properties": {}, "instance_info": {}, "driver_internal_info": {}})


def main() -> None:
    """Call everything and print what was read."""
    logging.disable(logging.CRITICAL)
    manager = hardware.GenericHardwareManager()
    refusing = OSError("no command runs here")
    with (
        mock.patch.object(utils, "execute", side_effect=refusing),
        mock.patch.object(subprocess, "run", side_effect=refusing),
        mock.patch.object(subprocess, "Popen", side_effect=refusing),
        mock.patch.object(hardware, "list_all_block_devices", return_value=[]),
        mock.patch.object(manager, "list_block_devices", return_value=[]),
        mock.patch.object(hardware, "get_cached_node", node),
    ):
        for read in (
            lambda: utils.get_node_boot_mode(node()),
            lambda: utils.get_partition_table_type_from_specs(node()),
            lambda: manager.get_skip_list_from_node_for_disks(node(), []),
            lambda: manager.get_skip_list_from_node_for_raids(node()),
            lambda: hardware.safety_check_block_device(node(), "/dev/none"),
            manager.get_os_install_device,
            lambda: manager.get_clean_steps(node(), []),
            lambda: manager.get_deploy_steps(node(), []),
            lambda: manager.get_service_steps(node(), []),
        ):
            with contextlib.suppress(Exception):
                read()
    sys.stdout.write(json.dumps(sorted(seen)))


main()

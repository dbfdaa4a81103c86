"""A look-up shows what the released agent was seen to read of its node, and commands bring the rest."""

import json
import subprocess
from pathlib import Path

from ironic.api.ramdisk_access import READ_BY_AGENTS
from ironic.tests.repository import tool
from ironic.tests.scenario.agent.sandbox import NOBODY


def test_a_look_up_shows_every_key_that_agents_read() -> None:
    program = (Path(__file__).parent / "node_reader.py").read_text()
    command = [str(tool("agent_venv").ensure()), "-I", "-c", program]
    ended = subprocess.run(command, cwd="/", user=NOBODY, group=NOBODY, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    read = {path.partition(".")[::2] for path in json.loads(ended.stdout)}
    below = {name: {key.partition(".")[0] for root, key in read if root == name and key} for name in READ_BY_AGENTS}
    assert below == {
        "instance_info": {"capabilities", "deploy_boot_mode", "root_device"},
        "driver_internal_info": {"deploy_boot_mode", "wipe_special_filesystems"},
    }
    assert all(below[name] <= READ_BY_AGENTS[name] for name in below)
    assert {root for root, _ in read} <= {"uuid", "properties", *READ_BY_AGENTS}

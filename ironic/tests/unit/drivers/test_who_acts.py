"""All functions beside Redfish that order or store something: what must be whole for each.

What is read with tolerance may be shown. Who orders, deletes, switches, declares something done or stores it as a fact
needs answers that are whole. The functions are found in the source, so a new one fails here until it has a line. With
Redfish that is in the types of what is read: `test_redfish_rooms.py`.
"""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

import ironic

_SOURCE = Path(ironic.__file__).parent
_PLACES = (
    "drivers/modules/ipmi",
    "inspection/hooks",
    "drivers/modules/agent",
    "drivers/modules/bmc",
)
_METHODS_THAT_ACT = frozenset(
    {
        "set_property", "sync", "save",
        # Commands of the agent and their results, and changes of the power.
        "commands", "execute", "start", "start_step", "result", "steps", "store_steps", "change_power",
        "get_power_state",
        # Of the clock: what is waited for decides what follows.
        "until",
    }
)  # fmt: skip
_FUNCTIONS_THAT_ACT = frozenset({"change", "set_capabilities", "add_capability", "action", "is_there", "until"})
SHOWS = "shows"
# What a reader is for that others call: they have lines of their own.
READS = "reads for others"

_IPMI = {
    "boot_device.*": "acts: as the user asks, or again what was remembered; nothing read decides",
    "management.IPMIManagement": "acts: as the user asks; the answer says whether it was done",
    "socat_console.IPMISocatConsole": "acts: stores what the service itself has started",
    "vendor.IPMIVendorPassthru": "acts: as the user asks",
    "power.IPMIPower": "acts: the power state was read, and is looked at afterwards",
    "raw_requests.send": "acts: as the user asks",
}
_HOOKS = {
    "basic_properties.Architecture": "stores: a word that is an architecture",
    "basic_properties.BootMode": "stores: a mode that is one",
    "basic_properties.Cpus": "stores: a count that is one",
    "basic_properties.CpuCapabilities": "stores: flags of the CPU that are a list of texts",
    "basic_properties.Memory": "stores: a size that is one; fails without",
    "basic_properties.set_capabilities": "stores: for the hooks that call it",
    "inspected_ports.*": "stores; deletes: ports that are not in a Whole list of those that stay",
    "pci_devices.Accelerators": "stores: of a Whole list of devices that can be identified",
    "pci_devices.PciDevices": "stores: of a Whole list of devices that can be identified",
    "port_connectivity.*": "stores: each port for itself, what its switch says",
    "root_disk_hooks.*": "stores: a size that is one, of a disk of a Whole list",
}
_AGENT = {
    "agent_base.AgentBase": "acts: on the end of the step that the agent names, and the state of the node",
    "agent_client.Agent": READS,
    "agent_deploy.AgentDeploy": "acts: as the deployment is, nothing that the agent says",
    "agent_deploy.CustomAgentDeploy": "acts: as the deployment is; the BMC shows whether the machine is off",
    "agent_deploy._switched_off_by_agent": "acts: the power state off as the BMC says it; any other one is not off",
    "agent_raid.AgentRAID": "stores: logical disks that are all objects; size, level and hints that are ones",
    "agent_raid._start": "acts: as the user asks",
    "agent_raid._use_root_volume": "stores: a hint, a size and a level of the root volume that are ones",
    "agent_rescue.AgentRescue": "acts: as the user asks; the command must have succeeded",
    "agent_rescue._send_password": "acts: as the user asks; the command must have succeeded",
    "in_band_steps._entry": READS,
    "in_band_steps.agent_steps": READS,
    "in_band_steps.check_progress": "judges: the last command, which must be the step, by a status that is known",
    "in_band_steps.start_step": "acts: as the plan says",
    "in_band_steps.store_agent_steps": "stores: steps that all have names and a priority that is a number",
    "partition_images.install_boot_loader": "acts: as the deployment is; the command must have succeeded",
    "ramdisk_boot._is": READS,
    "ramdisk_boot.boot_into": "acts: as the flow needs it",
    "ramdisk_boot.lock_down": "acts: as the deployment is",
    "ramdisk_boot.runs_ramdisk": "judges: a heartbeat that is recent, and a power state that is not off",
    "ramdisk_boot.switch_off": "acts: as the flow needs it",
    "ramdisk_boot.switch_on": "acts: a restart where the machine must stay on, which needs a known power state",
    "ramdisk_logs.collect": SHOWS,
}
_BMC = {
    "bmc_gateway.Gateway": "acts: on the queue of requests alone",
    "power_actions.ActionPower": "acts: as the user asks",
    "power_actions._wait": "judges: the state that is wanted, and no other one",
    "power_actions.await_shutdown": "judges: the state off, and no other one",
}
LINES = dict(zip(_PLACES, (_IPMI, _HOOKS, _AGENT, _BMC), strict=True))


def acting(source: str, module: str) -> Iterator[str]:
    """Yield `module.function` or `module.Class` of all that reads with tolerance or acts, `module` for its own body."""
    for part in ast.parse(source).body:
        name = f"{module}.{part.name}" if isinstance(part, ast.FunctionDef | ast.ClassDef) else module
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and _counts(node.func):
                yield name
                break


def _counts(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _FUNCTIONS_THAT_ACT
    if not isinstance(called, ast.Attribute):
        return False
    return called.attr in _METHODS_THAT_ACT


@pytest.mark.parametrize("place", _PLACES)
def test_all_that_act_say_what_must_be_whole(place: str) -> None:
    files = sorted((_SOURCE / place).rglob("*.py"))
    assert len(files) > 3
    found = [name for path in files for name in acting(path.read_text(), path.stem)]
    lines = LINES[place]
    unknown = sorted(name for name in found if name not in lines and f"{name.partition('.')[0]}.*" not in lines)
    assert unknown == [], (
        f"{place}: these read a machine with tolerance, or order or store something. If they show what they read, "
        "add a line with SHOWS; if they act, read it for certain and say "
        "what must be whole."
    )
    stale = sorted(name for name in lines if not any(fnmatch(one, name) for one in found))
    assert stale == [], "these lines name nothing that is there"


def test_each_line_says_what_must_be_whole() -> None:
    lines = [text for lines in LINES.values() for text in lines.values()]
    assert [text for text in lines if text not in (SHOWS, READS) and ": " not in text] == []


@pytest.mark.parametrize(
    "text",
    [
        "change(task, ('power', 'on'))",
        "task.node.set_property('cpus', 1)",
        "Agent(task.node).execute('standby.sync')",
        "task.change_power(states.REBOOT)",
        "until(is_off, timeout=1, interval=1)",
    ],
)
def test_such_calls_are_found(text: str) -> None:
    assert list(acting(f"def f(system, task):\n    return {text}\n", "m")) == ["m.f"]
    assert list(acting(f"class C:\n    def f(self, system, task):\n        return {text}\n", "m")) == ["m.C"]
    assert list(acting("def f(system):\n    return read(system)\n", "m")) == []

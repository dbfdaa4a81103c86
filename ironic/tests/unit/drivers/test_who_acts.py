"""All functions that read machines with tolerance, or order and store something: what must be whole for each.

What is read with tolerance may be shown. Who orders, deletes, switches, flashes, declares something done or stores it
as a fact needs answers that are whole (`ironic.drivers.modules.redfish.tree.certainty`). The functions are found in the
source, so a new one fails here until it has a line.
"""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

import ironic

_SOURCE = Path(ironic.__file__).parent
_PLACES = (
    "drivers/modules/redfish",
    "drivers/modules/ipmi",
    "inspection/hooks",
    "drivers/modules/agent",
    "drivers/modules/bmc",
)
_TOLERANT = frozenset(
    {
        "linked", "optional", "of_each", "seen_members", "seen_at", "seen_drives", "seen_managers", "seen_chassis",
    }
)  # fmt: skip
_METHODS_THAT_ACT = frozenset(
    {
        "post", "patch", "reset_system", "set_enabled", "set_attributes", "reset_bios", "reset_keys",
        "set_indicator_led", "set_system_boot_options", "insert_media", "set_property", "sync", "save",
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

_REDFISH = {
    "bios._pending": "acts: pending settings only add a reason to order; an order is sent where they can't be read",
    "bios.RedfishBIOS": "acts: the settings object that the BIOS names; rules from the registry, whole",
    "bios_attributes._registry": "acts: with `_unless_lacking` a registry that can't be read is an error; shows else",
    "bmc_clock._now": SHOWS,
    "bmc_clock.set_clock": "acts: bmc_of, which needs all managers unless one is the BMC and names the machine",
    "bmc_login.BmcLogin": "acts: begins and ends sessions of its own",
    "bmc_devices.parsed_lldp": "stores: each port for itself; a card that can't be read has no switch",
    "bmc_devices.pci_devices": SHOWS,
    "bmc_devices.storage_controllers": SHOWS,
    "bmc_indicators": SHOWS,
    "bmc_indicators._with_led": SHOWS,
    "bmc_indicators.set_indicator": "acts: on the one resource that has the name; looked at afterwards",
    "bmc_sensors._collect": SHOWS,
    "bmc_sensors._older": SHOWS,
    "bmc_sensors.readings": SHOWS,
    "bmc_subsystems._read": SHOWS,
    "bmc_subsystems.temperatures": SHOWS,
    "bmc_survey.has_link": SHOWS,
    "boot_cards._in_adapters": "stores: pxe_enabled of ports; the report names what is incomplete",
    "boot_cards.booted_from": "stores: pxe_enabled of ports; the report names what is incomplete",
    "boot_override._set": "acts: on the system itself; looked at afterwards",
    "boot_override._set_options": "acts: on the settings object, or on the system where it can't be read",
    "boot_override._settings": "acts: a settings object that can't be read is none, and the system is changed",
    "boot_override.check_mode_is_not_shown": "acts: the mode of the system as it is shown",
    "boot_override.set_device": "acts: stores what the service itself has chosen",
    "boot_override.set_mode": "acts: on the system itself; looked at afterwards",
    "certainty.given": READS,
    "certainty.whole_links": READS,
    "firmware.RedfishFirmware": "stores: versions that are versions (flashed_versions.is_version)",
    "firmware._adapters": "stores: versions of adapters of its own chassis that can be read; the others keep theirs",
    "firmware._components": "stores: of the BMC only where it is certain which manager it is (bmc_of)",
    "firmware_updates.FirmwareUpdates": "acts: the task, and versions from before and after it",
    "firmware_updates._answers": "waits: whether the BMC answers at all",
    "firmware_updates._order": "acts: the list of systems, whole: without it the Targets are not known",
    "flashed_versions._shown": "judges: only what is a version, before and after",
    "inspect.RedfishInspect": "stores: sizes that are whole; lists that say what is missing (incomplete_lists)",
    "inspect._disks": "stores: local_gb of the root disk",
    "inspect._drives": "stores: local_gb of the root disk",
    "inspect._list": SHOWS,
    "inspect._lldp": "stores: each port for itself",
    "inspect._simple_devices": "stores: local_gb of the root disk",
    "inspect.inventory_of": SHOWS,
    "management.RedfishManagement": "acts: on the system and its one resource; looked at afterwards",
    "media_orders._send_ejection": "acts: on one drive, by the action it has, or by PATCH where it has none",
    "media_orders._send_insertion": "acts: on one drive, by the action it has, or by PATCH where it has none",
    "media_orders._target": READS,
    "members._seen_of": READS,
    "members._seen": READS,
    "members.bmc_of": "acts: one that is the BMC and names the machine, or all managers",
    "members.linked": READS,
    "members.managers_of_none": READS,
    "members.of_each": READS,
    "members.seen_at": READS,
    "members.seen_drives": READS,
    "members.seen_members": READS,
    "members.whole_systems": READS,
    "network_cards._functions": "stores: ports; says what is missing",
    "network_cards._interfaces": "stores: ports; says what is missing",
    "network_cards._parts": "stores: ports; says what is missing, and which cards may be a neighbour's",
    "network_cards._ports": "stores: ports; says what is missing",
    "power.RedfishPower": SHOWS,
    "private_forms.own_hosts": SHOWS,
    "power._request": "acts: on the system itself; looked at afterwards",
    "processors_and_memory._is_cpu": READS,
    "processors_and_memory._says_what_it_is": READS,
    "processors_and_memory.cpu_of": "stores: the number of CPUs only where all processors can be read",
    "processors_and_memory.memory_of": "stores: the size of all modules, or of the summary",
    "raid._begin": "acts: as planned from what was read whole; stores that a refused change is not awaited",
    "raid._drives_at": "acts: drives that can be read; which are in use must be certain",
    "raid._logical_disks": "stores: raid_config only where all controllers show their volumes",
    "raid._makes_volumes": "acts: whether the storage has a place for volumes must be certain",
    "raid._send": "acts: on the storages that the plan names, which must be there",
    "raid._store": "stores: what _logical_disks returns",
    "raid._used": "acts: all volumes, and which drives each has",
    "media_orders.shows_no_image": "acts: that no image is in must be said",
    "media_orders.is_ejected": "acts: whether the drive is empty after an ejection must be said",
    "raid_volumes._has_levels": "acts: stops a deletion that may pass volumes over",
    "raid_volumes.storages_of": "acts: all storages, or those whose name no other one may have",
    "raid_volumes.volume_paths": "acts: all volumes of all storages, and the kind of each",
    "ramdisk_images._remember": "acts: stores what the service has made, nothing of the machine",
    "stored_changes.is_stored_soon": "judges: what the caller reads anew, until it is as ordered",
    "virtual_media._await_inserted": "judges: the image that was ordered, as the drive shows it",
    "vendor.RedfishVendorPassthru": "acts: as the user asks, on one subscription",
    "virtual_media._groups": "acts: an image goes into a drive that can be read",
    "virtual_media._protocols": READS,
    "virtual_media._takes": READS,
    "virtual_media.eject": "acts: all drives, whole: afterwards it says which could not be read",
    "virtual_media.insert": "acts: on drives that can be read, until one takes the image",
    "virtual_media_boot._check_firmware": SHOWS,
    "virtual_media_boot.RamdiskFromIso": "acts: as virtual_media.insert and boot_override.set_device",
    "waiting_step.*": "acts: stores what a step remembers, nothing of the machine",
}
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
    "inspected_ports.*": "stores and deletes: ports, which stay where the list says that it is incomplete",
    "pci_devices.Accelerators": "stores: devices that can be identified",
    "pci_devices.PciDevices": "stores: devices that can be identified",
    "port_connectivity.*": "stores: each port for itself, what its switch says",
    "root_disk_hooks.*": "stores: a size that is one, of a disk that can be chosen",
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
LINES = dict(zip(_PLACES, (_REDFISH, _IPMI, _HOOKS, _AGENT, _BMC), strict=True))


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
        return called.id in _TOLERANT | _FUNCTIONS_THAT_ACT
    if not isinstance(called, ast.Attribute):
        return False
    is_of_document = isinstance(called.value, ast.Attribute) and called.value.attr == "json"
    return called.attr in _METHODS_THAT_ACT or (called.attr == "get" and is_of_document)


@pytest.mark.parametrize("place", _PLACES)
def test_all_that_act_say_what_must_be_whole(place: str) -> None:
    files = sorted((_SOURCE / place).rglob("*.py"))
    assert len(files) > 3
    found = [name for path in files for name in acting(path.read_text(), path.stem)]
    lines = LINES[place]
    unknown = sorted(name for name in found if name not in lines and f"{name.partition('.')[0]}.*" not in lines)
    assert unknown == [], (
        f"{place}: these read a machine with tolerance, or order or store something. If they show what they read, "
        "add a line with SHOWS; if they act, read it whole (whole_members, whole_links, given, bmc_of ...) and say "
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
        "seen_members(system, 'storage')",
        "optional(lambda: system.bios, None)",
        "system.json.get('PowerState')",
        "connector_of(system).post('/x', data={})",
        "change(task, 'x', lambda system: system.reset_system('On'))",
        "task.node.set_property('cpus', 1)",
        "Agent(task.node).execute('standby.sync')",
        "task.change_power(states.REBOOT)",
        "until(is_off, timeout=1, interval=1)",
    ],
)
def test_such_calls_are_found(text: str) -> None:
    assert list(acting(f"def f(system, task):\n    return {text}\n", "m")) == ["m.f"]
    assert list(acting(f"class C:\n    def f(self, system, task):\n        return {text}\n", "m")) == ["m.C"]
    assert list(acting("def f(system):\n    return whole_members(system, 'storage')\n", "m")) == []

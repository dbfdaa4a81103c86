"""What is proved on a recorded machine: each operation is played, and the BMC is looked at afterwards.

An operation is *proved* if it has shown what the documents say, or if the BMC has got and stored the order. It is *not
offered* if the BMC has nothing for it, and *refused* with the reason otherwise. An order that is accepted and not
carried out, or a value that no document has, is none of these: it is a fault, and raises AssertionError.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ironic.drivers.contract import indicators
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import virtual_media
from ironic.drivers.modules.redfish.tree import virtual_drives
from ironic.tests.functional.drivers import expected_readings
from ironic.tests.functional.drivers.bmc_corpus import Known, machines_of
from ironic.tests.functional.drivers.played_bmc import ADDRESS, played
from ironic.tests.functional.drivers.played_operations import (
    FIRMWARE,
    IMAGE,
    MOMENT,
    OPERATIONS,
    Kinds,
    Machine,
    Operation,
    Outcome,
)
from ironic.tests.functional.drivers.shown_documents import Documents, object_of
from ironic.tests.repository import ROOT
from ironic.tests.unit.drivers.machine import Work

# The table: machine -> what it is, and what became of each operation.
OUTCOMES = ROOT / "ironic" / "tests" / "data" / "bmc-outcomes.json"
PROVED, REFUSED, NOT_OFFERED = "proved", "refused", "not offered"

_DEVICES = {
    "pxe": "pxe", "hdd": "disk", "cd": "cdrom", "usbcd": "cdrom", "biossetup": "bios", "uefihttp": "uefihttp",
    "diags": "safe", "floppy": "floppy",
}  # fmt: skip
_PERSISTENT = {"Continuous": True, "Once": False}
_MODES = {"uefi": "uefi", "legacy": "bios"}
_POWER = {"on": "power on", "off": "power off", "poweringon": "power on", "poweringoff": "power off"}
_ALLOWED = "@Redfish.AllowableValues"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST_REASON = 240


class Played(NamedTuple):
    """An operation that was played: the machine, its documents before and after it, and what it has left."""

    machine: Machine
    before: Documents
    after: Documents
    outcome: Outcome

    @property
    def shown(self) -> Any:
        """What a reading shows, or the kinds of values of one that shows several."""
        kinds = self.outcome.kinds
        return next(iter(kinds.values())) if len(kinds) == 1 else kinds

    def sent(self, path: str | None) -> list[Mapping[str, Any]]:
        """Return the bodies of the orders to a path."""
        return [object_of(order.body) for order in self.outcome.orders if order.path == path]

    def resets(self) -> list[str]:
        """Return the kinds of the resets that were ordered."""
        return [str(body.get("ResetType")) for body in self.sent(self.before.target("#ComputerSystem.Reset"))]


Question = Callable[[Documents], object]
Proof = Callable[[Played], object]


class Case(NamedTuple):
    """An operation in words, whether the documents offer it, and whether it was done."""

    words: str
    operation: Operation
    is_offered: Question
    is_proved: Proof


def _meant(words: Mapping[str, str], said: object) -> str | None:
    """Return what a word of the schema means, in whatever case it is spelt."""
    return words.get(str(said).strip().lower())


def _named(name: str, **before: object) -> Operation:
    operation = next(one for one in OPERATIONS if one.name == name)
    return replace(operation, before={**operation.before, **before})


def _insert(machine: Machine, task: Work) -> Kinds:
    virtual_media.insert(task, [virtual_drives.USB_STICK, virtual_drives.CD], IMAGE)
    return _shown_drives(task)


def _insert_and_eject(machine: Machine, task: Work) -> Kinds:
    virtual_media.insert(task, [virtual_drives.USB_STICK, virtual_drives.CD], IMAGE)
    RedfishManagement().detach_virtual_media(task)
    return _shown_drives(task)


def _shown_drives(task: Work) -> Kinds:
    return {"drives": RedfishManagement().get_virtual_media(task)}


def _inject_nmi(machine: Machine, task: Work) -> Kinds:
    RedfishManagement().inject_nmi(task)
    return {}


def _resets_by(*kinds: str) -> Question:
    """Ask whether the BMC offers one of these resets, or does not say which it has."""

    def is_offered(found: Documents) -> bool:
        action = object_of(object_of(found.system.get("Actions")).get("#ComputerSystem.Reset"))
        return "target" in action and bool({*action.get(f"ResetType{_ALLOWED}", kinds)} & {*kinds})

    return is_offered


def _with_boot(name: str) -> Question:
    return lambda found: name in found.boot


def _boots_from(target: str, *durations: str) -> Proof:
    def is_proved(played: Played) -> bool:
        stored = [object_of(document.get("Boot")) for document in map(object_of, played.after.all.values())]
        return any(
            boot.get("BootSourceOverrideTarget") == target and boot.get("BootSourceOverrideEnabled") in durations
            for boot in stored
        )

    return is_proved


def _light(component: str, parts: Callable[[Documents], Iterable[Mapping[str, Any]]]) -> Case:
    """Return the case of a light, which these parts of a machine may have."""

    def switch(machine: Machine, task: Work) -> Kinds:
        name = machine.lights.get(component, "none")
        RedfishManagement().set_indicator_state(task, component, name, indicators.BLINKING)
        return {}

    def is_offered(found: Documents) -> bool:
        return any("IndicatorLED" in part for part in parts(found))

    def is_lit(played: Played) -> bool:
        return any(part.get("IndicatorLED") == "Blinking" for part in parts(played.after))

    return Case(f"light of the {component}", Operation(f"light:{component}", switch), is_offered, is_lit)


def _sensors_are_those_of(played: Played) -> bool:
    """Return whether all sensors are shown with all that is said of them, each with its own name first."""
    kinds = {**played.outcome.kinds, "Extra": {"": played.outcome.kinds["Extra"]}}
    names = [
        (name, one.get("identity") or one.get("name")) for sensors in kinds.values() for name, one in sensors.items()
    ]
    shown = {kind: list(sensors.values()) for kind, sensors in kinds.items()}
    is_named = all(name.startswith(own or "") for name, own in names)
    return is_named and shown == expected_readings.sensors(played.before)


def _inventory_is_that_of(played: Played) -> bool:
    """Return whether all of the inventory is shown, without the cards that the firmware boots from."""
    kinds = played.outcome.kinds
    boot = {name: value for name, value in kinds.get("boot", {}).items() if not name.startswith("pxe_interface")}
    shown = {**kinds, "ports": list(kinds["ports"]), **({"boot": boot} if boot else {})}
    return shown == expected_readings.inventory(played.before)


def _devices_are_those_of(played: Played) -> bool:
    allowed = played.before.boot.get(f"BootSourceOverrideTarget{_ALLOWED}") or _DEVICES
    return sorted({_meant(_DEVICES, one) or "" for one in allowed} - {""}) == sorted(played.shown)


def _image_is_in(played: Played) -> bool:
    """Return whether one drive got the image, all others are as before, and all are shown so."""
    before, after = played.before.drives, played.after.drives
    changed = [path for path, drive in after.items() if drive != before[path]]
    full = [path for path, drive in after.items() if (drive.get("Image"), drive.get("Inserted")) == (IMAGE, True)]
    return changed == full and len(full) == 1 and _are_drives_shown(played)


def _images_are_out(played: Played) -> bool:
    """Return whether all drives say that they are empty, and are shown so."""
    said = [(drive.get("Image") or "", drive.get("Inserted")) for drive in played.after.drives.values()]
    return {*said} == {("", False)} and _are_drives_shown(played)


def _are_drives_shown(played: Played) -> bool:
    shown = [{name: value or None for name, value in drive.items()} for drive in played.outcome.kinds["drives"]]
    return shown == list(expected_readings.shown_drives(played.after).values())


def _setting_is_ordered(played: Played) -> bool:
    name, value = played.machine.setting
    pending = [object_of(object_of(document).get("Attributes")) for document in played.after.all.values()]
    return any(name in one and one[name] == value for one in pending) and bool(played.resets())


def _volume_is_made(played: Played) -> bool:
    made = played.after.volumes - played.before.volumes
    return bool(made) and any(order.method == "POST" for order in played.outcome.orders)


_RESETS_TO_ON = ("On", "ForceOn", "PushPowerButton")
_RESTARTS = ("ForceRestart", "GracefulRestart", "PowerCycle")
_ON = {"PowerState": "On"}

CASES = (
    Case(
        "power state", _named("power_state"), lambda found: isinstance(found.system.get("PowerState"), str),
        lambda played: played.shown == _meant(_POWER, played.before.system["PowerState"]),
    ),
    Case(
        "boot device", _named("boot_device"), _with_boot("BootSourceOverrideTarget"),
        lambda played: played.shown == {
            "boot_device": _meant(_DEVICES, played.before.boot["BootSourceOverrideTarget"]),
            "persistent": _PERSISTENT.get(str(played.before.boot.get("BootSourceOverrideEnabled"))),
        },
    ),
    Case("boot devices", _named("boot_devices"), lambda found: found.boot, _devices_are_those_of),
    Case(
        "boot mode", _named("boot_mode"), _with_boot("BootSourceOverrideMode"),
        lambda played: played.shown == _meant(_MODES, played.before.boot["BootSourceOverrideMode"]),
    ),
    Case(
        "secure boot", _named("secure_boot"), lambda found: found.behind(found.system, "SecureBoot"),
        lambda played: (
            played.shown is played.before.behind(played.before.system, "SecureBoot").get("SecureBootEnable")
        ),
    ),
    Case(
        "health", _named("health"), lambda found: found.system.get("Status"),
        lambda played: played.shown == expected_readings.health(played.before),
    ),
    Case(
        "vendor", _named("vendor"), lambda _: True,
        lambda played: played.shown == expected_readings.vendor(played.before),
    ),
    Case(
        "MAC addresses", _named("addresses"), lambda found: "MACAddress" in found.text,
        lambda played: played.shown == expected_readings.addresses(played.before),
    ),
    Case(
        "inspection", _named("inspection"), lambda _: True, _inventory_is_that_of,
    ),
    Case(
        "sensors", _named("sensors"),
        lambda found: found.below("/(Thermal|Power|ThermalSubsystem|Sensors|Drives/[^/]+)"), _sensors_are_those_of,
    ),
    Case(
        "virtual drives", _named("virtual_media"), lambda found: found.drives,
        lambda played: played.shown == list(expected_readings.shown_drives(played.before).values()),
    ),
    Case(
        "BIOS settings", _named("BIOS"), lambda found: found.bios.get("Attributes"),
        lambda played: played.outcome.kinds == expected_readings.settings(played.before),
    ),
    Case(
        "versions of firmware", _named("firmware"), lambda found: "Version" in found.text,
        lambda played: played.outcome.kinds["firmware"] == expected_readings.firmware(played.before),
    ),
    Case(
        "power on", _named("power_on"), _resets_by(*_RESETS_TO_ON),
        lambda played: played.after.system["PowerState"] == "On" and {*played.resets()} <= {*_RESETS_TO_ON} != set(),
    ),
    Case(
        "power off", _named("power_off", **_ON), _resets_by("ForceOff"),
        lambda played: played.after.system["PowerState"] == "Off" and played.resets() == ["ForceOff"],
    ),
    Case(
        "soft power off", _named("shutdown", **_ON), _resets_by("GracefulShutdown"),
        lambda played: played.after.system["PowerState"] == "Off" and played.resets() == ["GracefulShutdown"],
    ),
    Case(
        "reboot", _named("reboot", **_ON), _resets_by("ForceOff"),
        lambda played: (
            played.resets()[:-1] == ["ForceOff"]
            and played.resets()[-1] in _RESETS_TO_ON
            and played.after.system["PowerState"] == "On"
        ),
    ),
    Case(
        "restart without power off", _named("reset", **_ON), _resets_by(*_RESTARTS),
        lambda played: len(played.resets()) == 1 and played.resets()[0] in _RESTARTS,
    ),
    Case(
        "NMI", Operation("nmi", _inject_nmi, _ON), _resets_by("Nmi"), lambda played: played.resets() == ["Nmi"],
    ),
    Case("boot once", _named("boot_once"), _with_boot("BootSourceOverrideTarget"), _boots_from("Pxe", "Once")),
    Case(
        "boot always", _named("boot_order"), _with_boot("BootSourceOverrideTarget"), _boots_from("Hdd", "Continuous"),
    ),
    Case(
        # A mode may be set where none is shown.
        "change of the boot mode", _named("mode_order", **_ON), _with_boot("BootSourceOverrideTarget"),
        lambda played: any(
            object_of(object_of(order.body).get("Boot")).get("BootSourceOverrideMode") == "Legacy"
            for order in played.outcome.orders
        ),
    ),
    Case(
        "change of secure boot", _named("secure_order", **_ON), lambda found: found.behind(found.system, "SecureBoot"),
        lambda played: played.after.behind(played.after.system, "SecureBoot").get("SecureBootEnable") is True,
    ),
    Case(
        "image into a virtual drive", Operation("insertion", _insert), lambda found: found.drives, _image_is_in,
    ),
    Case(
        "image out of it", Operation("insertion and ejection", _insert_and_eject), lambda found: found.drives,
        _images_are_out,
    ),
    Case(
        "change of BIOS settings", _named("BIOS_change", **_ON),
        lambda found: found.bios.get("Attributes") and "SettingsObject" in json.dumps(dict(found.bios)),
        _setting_is_ordered,
    ),
    Case(
        "reset of BIOS settings", _named("BIOS_reset", **_ON), lambda found: found.target("#Bios.ResetBios"),
        lambda played: played.sent(played.before.target("#Bios.ResetBios")) and played.resets(),
    ),
    Case(
        "update of firmware", _named("update", **_ON), lambda found: found.target("#UpdateService.SimpleUpdate"),
        lambda played: [
            body["ImageURI"] for body in played.sent(played.before.target("#UpdateService.SimpleUpdate"))
        ] == [FIRMWARE],
    ),
    Case("new logical disk", _named("RAID", **_ON), lambda found: found.storages, _volume_is_made),
    Case(
        "logical disks replaced", _named("RAID_replaced", **_ON), lambda found: found.storages,
        lambda played: _volume_is_made(played) and not played.before.volumes & played.after.volumes,
    ),
    Case(
        "logical disks deleted", _named("RAID_deleted", **_ON), lambda found: found.volumes,
        lambda played: played.before.volumes and not played.after.volumes,
    ),
    Case(
        "clock of the BMC", _named("clock"), lambda found: '"DateTime"' in found.text,
        lambda played: any(object_of(one).get("DateTime") == MOMENT for one in played.after.all.values()),
    ),
    _light("system", lambda found: [found.system]),
    _light("chassis", lambda found: found.chassis.values()),
    _light("disk", lambda found: found.disks.values()),
)  # fmt: skip


def played_machines(source: str, directory: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the table for a source: what each machine is, and what became of each operation on it."""
    rows: dict[str, dict[str, Any]] = {}
    with played() as choose:
        for number, known in enumerate(machines_of(source)):
            store = directory / str(number)
            machine = Machine(known.documents, known.path, store, known.setting, choose, known.recorded)
            try:
                became = {case.words: result_of(machine, case) for case in CASES}
                rows[known.name] = {**_identity(known), "operations": became}
            finally:
                machine.close()
    return rows


def _identity(known: Known) -> dict[str, str]:
    found = Documents(known.documents, known.path)
    managers = found.members(object_of(found.system.get("Links")), "ManagedBy") or found.below("/Managers/[^/]+")
    versions = [str(manager["FirmwareVersion"]) for manager in managers.values() if manager.get("FirmwareVersion")]
    vendor, model = (str(found.system.get(name) or "") for name in ("Manufacturer", "Model"))
    return {"vendor": vendor, "model": model, "firmware": ", ".join(versions), "source": known.source}


def result_of(machine: Machine, case: Case) -> str:
    """Return what became of an operation, with the reason of a refusal; raise AssertionError for anything else."""
    outcome = machine.play(case.operation)
    before = {**machine.documents, machine.path: machine.prepared(case.operation, machine.path)}
    after = Documents(machine.bmc.documents, machine.path)
    one = Played(machine, Documents(before, machine.path), after, outcome)
    is_offered = bool(case.is_offered(one.before))
    if outcome.error is not None:
        return f"{REFUSED}: {_reason(str(outcome.error))}" if is_offered else NOT_OFFERED
    if not is_offered and not outcome.orders:
        return NOT_OFFERED
    is_order = case.operation.is_order
    if not is_order and not any(outcome.kinds.values()) and outcome.kinds != {case.operation.name: False}:
        return f"{REFUSED}: nothing is shown"
    assert is_offered and bool(outcome.orders) == is_order and case.is_proved(one), (
        f"{case.words}: neither done nor refused: {one.shown!r:.500}, {outcome.orders!r:.500}"
    )
    return PROVED


def _reason(text: str) -> str:
    """Return the text of an error without what differs from run to run, in a cell of a table."""
    words = " ".join(_UUID.sub("UUID", text.removeprefix(f"BMC {ADDRESS}: ")).replace("|", "/").split())
    return words if len(words) <= _LONGEST_REASON else f"{words[:_LONGEST_REASON]}..."

"""What the service reads, stores and orders of a machine behind a `PlayedBmc`: each operation once, with all it leaves.

An operation begins with the machine in a state of its own and a fresh node. Its outcome has what it showed, by kind,
what it stored, and the orders that it sent.
"""

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.db import Store
from ironic.drivers.contract import indicators
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.inspect import RedfishInspect
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import virtual_media
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.drivers.modules.redfish.tree import bios_attributes, virtual_drives
from ironic.integrations.http_client import CallFailed
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.drivers.played_bmc import ADDRESS, Answer, Document, Order, PlayedBmc
from ironic.tests.unit.drivers.machine import Work, work_on
from ironic.tests.unit.inspection import lab

IMAGE = "http://192.0.2.5:8080/vmedia/0123456789abcdef.iso"
FIRMWARE = "http://192.0.2.5:8080/firmware.bin"
MOMENT = "2026-02-02T00:00:00+00:00"
# Stored with each change, and different each time.
_CLOCKS = frozenset(
    {"last_updated", "restarted_at", "began_at", "sent_at", "until", "step_began", "timestamp"}
    | {"since", "next_look", "changed"}
)

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")

Kinds = dict[str, Any]


@dataclass
class Outcome:
    """What an operation has left: kinds of values, orders, and the error that ended it."""

    kinds: Kinds = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    error: IronicError | None = None


@dataclass(frozen=True)
class Operation:
    """``act`` returns kinds of values; ``before`` is merged into the system's document."""

    name: str
    act: Callable[["Machine", Work], Kinds]
    before: Mapping[str, Any] = field(default_factory=dict)
    is_order: bool = True

    @property
    def kind(self) -> str:
        """The kind of its orders."""
        return self.name.partition(":")[0]


def _shown(name: str, look: Callable[[Work], Any]) -> Operation:
    return Operation(name, lambda machine, task: {name: look(task)}, is_order=False)


def _ordered(name: str, order: Callable[[Work], object], **before: object) -> Operation:
    def act(machine: "Machine", task: Work) -> Kinds:
        order(task)
        return {f"{name} stores": _stored(task)}

    return Operation(name, act, before)


def _stored(task: Work) -> Any:
    node = task.node
    kept = {
        "driver_internal_info": node.driver_internal_info,
        "waits": {kind: asdict(wait) for kind, wait in node.saved_waits.items() if wait is not None},
        "properties": node.properties,
        "raid_config": node.raid_config,
        "power": (node.power_state, node.target_power_state),
    }
    return without_clocks(kept)


def without_clocks(value: Any) -> Any:
    """Return a value without moments that differ from run to run."""
    if isinstance(value, dict):
        return {name: without_clocks(item) for name, item in value.items() if name not in _CLOCKS}
    if isinstance(value, list | tuple):
        return [without_clocks(item) for item in value]
    return _MOMENT.sub("TIME", value) if isinstance(value, str) else value


def _sensors(machine: "Machine", task: Work) -> Kinds:
    return dict(_MANAGEMENT.get_sensors_data(task))


def _virtual_media(machine: "Machine", task: Work) -> Kinds:
    # The API has false and an empty text for what is not known.
    drives = _MANAGEMENT.get_virtual_media(task)
    return {"virtual_media": [{name: value or None for name, value in drive.items()} for drive in drives]}


def _inspection(machine: "Machine", task: Work) -> Kinds:
    return machine.inspected.run(machine.path)


def _bios(machine: "Machine", task: Work) -> Kinds:
    _BIOS.cache_bios_settings(task)
    rows = {row.pop("name"): row for row in task.store.bios_settings.values(("value", *bios_attributes.CHECKED), 1)}
    words = {name: {key: value for key, value in row.items() if value and key != "value"} for name, row in rows.items()}
    return {
        "BIOS": {name: row["value"] for name, row in rows.items()},
        "BIOS_words": {name: said for name, said in words.items() if said},
    }


def _changes(values: Kinds, words: Kinds) -> Iterator[tuple[str, Any]]:
    """Yield changes of BIOS settings to another of their words; of those without any, to a text or number."""
    for name, said in words.items():
        for word in said.get("allowable_values") or ():
            if word != values[name] and not said.get("read_only"):
                yield name, word
    yield from ((name, f"{value}1") for name, value in values.items() if name not in words)


def _firmware(machine: "Machine", task: Work) -> Kinds:
    columns = ("component", "current_version", "last_version_flashed")
    task.store.firmware.sync(1, machine.firmware_rows)
    _FIRMWARE.cache_firmware_components(task)
    rows = task.store.firmware.values(columns, 1)
    # A version that is new is one that was flashed.
    flashed = {row["component"] for row in rows if row["last_version_flashed"] not in (None, row["current_version"])}
    return {"firmware": {row["component"]: row["current_version"] for row in rows}, "flashed": sorted(flashed)}


def _raid(**target: Any) -> Callable[[Work], object]:
    def order(task: Work) -> object:
        task.node.target_raid_config = {"logical_disks": [{"size_gb": 1, "raid_level": "0", **target}]}
        return _RAID.create_configuration(task, create_nonroot_volumes=True)

    return order


def _replace_disks(task: Work) -> object:
    task.node.target_raid_config = {"logical_disks": [{"size_gb": 100, "raid_level": "0", "is_root_volume": True}]}
    return _RAID.create_configuration(task, delete_existing=True)


def _reset(task: Work) -> None:
    task.node.disable_power_off = True
    _POWER.reboot(task)


def _apply(machine: "Machine", task: Work) -> Kinds:
    _BIOS.apply_configuration(task, [{"name": machine.setting[0], "value": machine.setting[1]}])
    return {"BIOS_change stores": _stored(task)}


def _light(component: str) -> Callable[["Machine", Work], Kinds]:
    def act(machine: "Machine", task: Work) -> Kinds:
        if component in machine.lights:
            _MANAGEMENT.set_indicator_state(task, component, machine.lights[component], indicators.BLINKING)
        return {}

    return act


def _update(task: Work) -> object:
    return _FIRMWARE.update(task, [{"component": "bios", "url": FIRMWARE}])


_BIOS, _FIRMWARE, _MANAGEMENT, _POWER, _RAID = (
    RedfishBIOS(), RedfishFirmware(), RedfishManagement(), RedfishPower(), RedfishRAID(),
)  # fmt: skip
_UEFI = {"BootSourceOverrideMode": "UEFI"}
_MEDIA = [virtual_drives.USB_STICK, virtual_drives.CD]

OPERATIONS: tuple[Operation, ...] = (
    _shown("power_state", _POWER.get_power_state),
    _shown("boot_device", _MANAGEMENT.get_boot_device),
    _shown("boot_devices", _MANAGEMENT.get_supported_boot_devices),
    _shown("boot_mode", _MANAGEMENT.get_boot_mode),
    _shown("secure_boot", _MANAGEMENT.get_secure_boot_state),
    _shown("health", _MANAGEMENT.get_node_health),
    _shown("vendor", _MANAGEMENT.detect_vendor),
    _shown("addresses", _MANAGEMENT.get_mac_addresses),
    Operation("virtual_media", _virtual_media, is_order=False),
    _shown("indicators", _MANAGEMENT.get_supported_indicators),
    Operation("sensors", _sensors, is_order=False),
    Operation("BIOS", _bios, is_order=False),
    Operation("inspection", _inspection, is_order=False),
    Operation("firmware", _firmware, is_order=False),
    _ordered("power_on", lambda task: _POWER.set_power_state(task, states.POWER_ON), PowerState="Off"),
    _ordered("power_off", lambda task: _POWER.set_power_state(task, states.POWER_OFF)),
    _ordered("shutdown", lambda task: _POWER.set_power_state(task, states.SOFT_POWER_OFF)),
    _ordered("reboot", lambda task: _POWER.reboot(task)),
    _ordered("reset", _reset),
    _ordered("boot_order", lambda task: _MANAGEMENT.set_boot_device(task, "disk", persistent=True)),
    _ordered("boot_once", lambda task: _MANAGEMENT.set_boot_device(task, "pxe")),
    _ordered("mode_order", lambda task: _MANAGEMENT.set_boot_mode(task, "bios")),
    _ordered("secure_order", lambda task: _MANAGEMENT.set_secure_boot_state(task, True), Boot=_UEFI),
    _ordered("insertion", lambda task: virtual_media.insert(task, _MEDIA, IMAGE)),
    _ordered("ejection", lambda task: _MANAGEMENT.detach_virtual_media(task)),
    _ordered("RAID", _raid()),
    _ordered("RAID_replaced", _replace_disks),
    _ordered("RAID_deleted", _RAID.delete_configuration),
    Operation("BIOS_change", _apply),
    _ordered("BIOS_reset", _BIOS.factory_reset),
    _ordered("update", _update),
    _ordered("clock", lambda task: _MANAGEMENT.set_bmc_clock(task, MOMENT)),
    *(Operation(f"light:{name}", _light(name)) for name in ("system", "chassis", "disk")),
)  # fmt: skip


class Inspected:
    """A node in a store, with the ports and properties that its last inspection has left."""

    def __init__(self, store: Store, path: str) -> None:
        self.store, self.interface = store, RedfishInspect()
        info = {"redfish_address": ADDRESS, "redfish_system_id": path}
        self.node = lab.new_node(store, driver="redfish", inspect_interface="redfish", driver_info=info)
        self._work = lab.work_on(store, self.node)
        self.known: Kinds = {}

    def run(self, path: str) -> Kinds:
        """Inspect the machine; return what is stored then, and the inventory."""
        work = self._work
        try:
            self.interface.inspect_hardware(cast(Any, work))
        except IronicError:
            known = self.known
            assert not known or self._facts() == known, "a failed inspection has changed what is known"
            raise
        facts = self._facts()
        texts = self.store.inventories.texts(work.node.id)
        assert texts is not None
        inventory, data = json.loads(texts[0]), json.loads(texts[1])
        return {**facts, **inventory, "switches": data.get("parsed_lldp", {}), "root_disk": data.get("root_disk")}

    def _facts(self) -> Kinds:
        work = self._work
        work.ports = None
        ports = {
            port.address: (port.pxe_enabled, port.local_link_connection, port.physical_network) for port in work.ports
        }
        facts = {"properties": dict(work.node.properties), "ports": ports}
        if self.known and facts != self.known:
            self.restore()
        return facts

    def restore(self) -> None:
        """Have ports and properties be those of the whole machine again."""
        work = self._work
        for port in list(work.ports):
            self.store.ports.delete(port.uuid)
        for address, (pxe_enabled, link, network) in self.known["ports"].items():
            lab.new_port(
                self.store,
                work.node,
                address,
                pxe_enabled=pxe_enabled,
                local_link_connection=link,
                physical_network=network,
            )
        work.node.properties = dict(self.known["properties"])
        work.node.save()
        work.ports = None


class Machine:
    """A recorded machine, with what is seen and ordered when nothing is odd.

    Without a ``setting`` the first BIOS setting is changed that can be.
    """

    def __init__(
        self,
        documents: dict[str, Document],
        path: str,
        directory: Path,
        setting: tuple[str, Any] | None,
        choose: Callable[[PlayedBmc], None],
        recorded: Mapping[str, Answer | CallFailed] | None = None,
    ) -> None:
        self.path, self.documents, self.setting = path, documents, setting or ("none", 1)
        self._may_choose = setting is None
        self.bmc, self._choose = PlayedBmc(documents, recorded), choose
        directory.mkdir()
        self._store = sqlite_store(directory)
        self._store.nodes.create({"driver": "fake-hardware"})
        self.inspected = Inspected(self._store, path)
        self.firmware_rows: list[dict[str, Any]] = []
        self.lights: dict[str, str] = {}
        self.whole: dict[str, Outcome] = {}
        self.asked: dict[str, set[str]] = {}
        for operation in OPERATIONS:
            self.bmc.forget_root()
            self.whole[operation.name] = self.play(operation)
            self.asked[operation.name] = set(self.bmc.asked)
            self._learn(operation)
        # What is stored is that of a machine that is known.
        self.bmc.forget_root()
        for name in ("inspection", "firmware"):
            self.whole[name] = self.play(next(one for one in OPERATIONS if one.name == name))

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _learn(self, operation: Operation) -> None:
        kinds = self.whole[operation.name].kinds
        if not kinds:
            return
        if operation.name == "BIOS" and self._may_choose:
            self.setting = next(_changes(kinds["BIOS"], kinds["BIOS_words"]), self.setting)
        elif operation.name == "inspection":
            self.inspected.known = {name: kinds[name] for name in ("properties", "ports")}
        elif operation.name == "indicators":
            self.lights = {component: sorted(lights)[0] for component, lights in kinds["indicators"].items()}
        elif operation.name == "firmware":
            self.firmware_rows = self._store.firmware.values(
                ("component", "current_version", "last_version_flashed"), 1
            )

    def prepared(self, operation: Operation, path: str) -> Document:
        """Return a document as it is when an operation begins."""
        document = self.documents[path]
        if path != self.path or not operation.before:
            return document
        document = copy.deepcopy(document)
        for name, value in operation.before.items():
            document[name] = {**document.get(name, {}), **value} if isinstance(value, Mapping) else value
        return document

    def play(self, operation: Operation, changed: Mapping[str, Any] | None = None, answers: Any = None) -> Outcome:
        """Carry an operation out with these documents in place of the machine's own."""
        before = {self.path: self.prepared(operation, self.path)} if operation.before else {}
        given = {**before, **(changed or {})}
        self._choose(self.bmc)
        self.bmc.begin(given, answers)
        info = {"redfish_address": ADDRESS, "redfish_system_id": self.path}
        task = work_on(driver="redfish", driver_info=info, provision_state=states.CLEANING)
        task.store = self._store
        task.driver = BareDriver({"power": _POWER, "management": _MANAGEMENT, "bios": _BIOS, "raid": _RAID})
        found = Outcome()
        try:
            found.kinds = operation.act(self, task)
        except IronicError as error:
            found.error = error
        found.orders = list(self.bmc.orders)
        return found

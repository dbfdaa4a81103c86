"""Each part of recorded documents of machines, replaced by what odd BMCs send: the rest of the machine survives.

The documents are those of `recorded_machines`. What an oddity may take away stands in a table by its place; all else
is seen as before, and the orders that do not need the place are carried out as before.
"""

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.core import states
from ironic.core.errors import IronicError
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish import stored_changes, virtual_media
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.tests.effort import IS_FULL
from ironic.tests.functional.drivers import recorded_machines as recorded
from ironic.tests.functional.drivers.hostile_bmc import Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_public_mockups import READS
from ironic.tests.unit.drivers.machine import OwnStore, Work, work_on

Document = dict[str, Any]
Step = str | int
Place = tuple[str, tuple[Step, ...]]

DROPPED = object()
ODD: list[Any] = [
    DROPPED, None, "", "N/A", "500 GB", 0, -1, 1.5, 2**70, True, [], {}, [None], [1], ["x"], [{}], {"x": [1]}, [[]],
    "0000-00-00T00:00:00Z", "\ud800", "a\u0000b", {"@odata.id": "/gone"}, [{"@odata.id": "http://192.0.2.7/"}],
]  # fmt: skip
# What stands between the quotes of a text, as it is.
ODD_BYTES = [b"\r\n", b"\t\x01", b"\xff\xfe", b"\xc3", b"\\ud800", b"\\u0000"]
_MARK = "odd bytes are here"
# No person reads names of the program, nor that an answer is odd in a way that it does not know.
_OF_PYTHON = re.compile(
    r"<[A-Z]\w+\.|\b[A-Z]\w+\.[A-Z_]{2,}\b|\b(Type|Attribute|Key|Index|Value)Error\b|NoneType|has not the form"
)
ANSWERS: dict[str, Callable[[Handler], None]] = {
    "404": lambda handler: handler.answer(404, {}),
    "500": lambda handler: handler.answer(500, {"error": "boom"}),
    "403": lambda handler: handler.answer(403, {}),
    "a page": lambda handler: handler.send(200, b"<html>"),
    "half a document": lambda handler: handler.send(200, b'{"Id": "1", "Mem'),
    "a list": lambda handler: handler.answer(200, [1]),
    "an empty object": lambda handler: handler.answer(200, {}),
    "null": lambda handler: handler.send(200, b"null"),
    "nothing": lambda handler: handler.send(204, b""),
    "another server": lambda handler: handler.send(302, b"", {"Location": "http://192.0.2.7/"}),
}
READ = (
    "power state", "inventory", "sensors", "addresses", "virtual media", "indicators", "described BIOS settings",
    "switches", "boot device", "boot mode", "secure boot", "health", "vendor", "boot devices",
)  # fmt: skip
IMAGE = "http://192.0.2.5:8080/vmedia/0123456789abcdef.iso"


def of_dmtf() -> dict[str, Any]:
    found = recorded.with_chassis(recorded.with_another_bios(), "/redfish/v1/Chassis/1U")
    # The schema wants a list of links there; the machine of Dell has a link to a collection.
    cards = [{"@odata.id": path} for path in found if re.search("/PCIeDevices/[^/]+$", path)]
    return found | {recorded.MACHINE: {**found[recorded.MACHINE], "PCIeDevices": cards}}


def of_dell() -> dict[str, Any]:
    found = recorded.of_dell()
    cards = {"@odata.id": f"{recorded.CHASSIS_OF_DELL}/PCIeDevices"}
    return found | {recorded.DELL_MACHINE: {**found[recorded.DELL_MACHINE], "PCIeDevices": cards}}


MACHINES: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "DMTF": (of_dmtf, recorded.MACHINE),
    "Dell": (of_dell, recorded.DELL_MACHINE),
    "Intel": (recorded.of_intel, recorded.INTEL_MACHINE),
}

_CARDS = "interfaces addresses"
_DRIVES = "disks drives storage_controllers Drive disk RAID"
_SENSORS = "Fan Temperature Power"
_CHASSIS = f"{_SENSORS} switches firmware chassis"
_MEDIA = "virtual_media insertion"
_BOOT = "boot_device boot_mode boot_devices boot boot_order"
# What a place may take away, by its path and the names that lead to the value; the first that fits counts.
# All that is not here may take nothing away.
_TAKES = [
    (re.compile(pattern), set(kinds.split()))
    for pattern, kinds in (
        ("^/redfish/v1#(Systems|Managers|UpdateService)", f"{_MEDIA} firmware"),
        ("^/redfish/v1#Registries", "BIOS_words"),
        ("^/redfish/v1#Vendor", "vendor"),
        ("/Bios/Settings", ""),
        ("/Bios#AttributeRegistry", "BIOS_words"),
        ("/Bios#|^SYSTEM#Bios$", "BIOS BIOS_words"),
        ("^/redfish/v1/Registries.*#", "BIOS_words"),
        ("/SecureBoot#|^SYSTEM#SecureBoot", "secure_boot"),
        ("/VirtualMedia(/[^/]+)?#", _MEDIA),
        ("^/redfish/v1/Managers/[^/]+#", f"{_MEDIA} firmware"),
        ("SYSTEM/EthernetInterfaces|^SYSTEM#EthernetInterfaces", _CARDS),
        ("SYSTEM/Processors|^SYSTEM#Processors", "cpu"),
        ("/Storage/[^#]*/Volumes", "RAID"),
        ("/(Simple)?Storage[/#]|/Drives/|^SYSTEM#(Simple)?Storage", _DRIVES),
        ("/Thermal#Fans", "Fan"),
        ("/Thermal#Temperatures", "Temperature"),
        ("/Thermal#", "Fan Temperature"),
        ("/Power#", "Power"),
        ("/Chassis/[^/]+/NetworkAdapters", "switches firmware"),
        ("/PCIeDevices", "pci_devices"),
        ("^/redfish/v1/Chassis/[^/]+#", _CHASSIS),
        ("^SYSTEM#PCIe", "pci_devices"),
        ("^SYSTEM#Links/Chassis", _CHASSIS),
        ("^SYSTEM#Links/ManagedBy", f"{_MEDIA} firmware"),
        ("^SYSTEM#Links$", f"{_CHASSIS} {_MEDIA}"),
        ("^SYSTEM#Boot", _BOOT),
        ("^SYSTEM#Status", "health"),
        ("^SYSTEM#MemorySummary", "memory"),
        ("^SYSTEM#IndicatorLED", "system"),
        ("^SYSTEM#UUID", "system_vendor system"),
        ("^SYSTEM#BiosVersion", "firmware"),
        ("^SYSTEM#(Manufacturer|Model|SerialNumber)", "system_vendor vendor"),
        ("^SYSTEM#PowerState", "power_state"),
        ("^SYSTEM#Actions", "power_on"),
    )
]


def may_take(machine: str, place: Place) -> set[str]:
    path, inside = place
    text = f"{path.replace(machine, 'SYSTEM')}#{'/'.join(map(str, inside))}"
    return next((kinds for pattern, kinds in _TAKES if pattern.search(text)), set())


class Machine:
    """A recorded machine behind a BMC, and what was seen of it when nothing was odd."""

    def __init__(self, bmc: HostileBmc, name: str) -> None:
        self.bmc = bmc
        make, self.path = MACHINES[name]
        self.documents = make()
        self.documents[self.path] = {**self.documents[self.path], "PowerState": "Off"}
        self.store = OwnStore()
        bmc.requests = []
        self.whole = self.look(self.documents)
        read = sorted({path for method, path in bmc.requests if method == "GET"} & self.documents.keys())
        self.read = [path for path in read if path not in ("/redfish/v1", self.path)]
        self.leaves = [(path, place) for path in read for place in places(self.documents[path], leaves=True)]
        self.branches = [(path, place) for path in read for place in places(self.documents[path], leaves=False)]

    def look(self, documents: dict[str, Any], misbehave: Callable[[Handler], bool] = lambda _: False) -> Counter[str]:
        """Return how much of each kind is seen, and which orders are carried out; a failure counts as nothing."""
        bmc: HostileBmc = self.bmc
        self.after_orders: Document = {}
        bmc.documents = documents

        def answer(handler: Handler) -> bool:
            if handler.command == "GET":
                return misbehave(handler) or self._show_orders(handler)
            return self._take(handler)

        bmc.misbehave = answer
        RECENT._kept.clear()
        task = work_on(driver_info={"redfish_address": bmc.address, "redfish_system_id": self.path})
        task.store, task.node.target_raid_config = self.store, {"logical_disks": [{"size_gb": 1, "raid_level": "0"}]}
        return Counter({name: count for look in (self._reads, self._orders) for name, count in look(task).items()})

    def _show_orders(self, handler: Handler) -> bool:
        is_changed = bool(self.after_orders) and handler.path.rstrip("/") == self.path
        if is_changed:
            handler.answer(200, {**self.bmc.documents[self.path], **self.after_orders})
        return is_changed

    def _take(self, handler: Handler) -> bool:
        is_known = handler.path.endswith(
            ("/ComputerSystem.Reset", "/VirtualMedia.InsertMedia", "/VirtualMedia.EjectMedia", "/Volumes")
        )
        if handler.command == "PATCH" and handler.path.rstrip("/") == self.path:
            self.after_orders["Boot"] = json.loads(handler.content)["Boot"]
            is_known = True
        if handler.path.endswith("/ComputerSystem.Reset"):
            self.after_orders["PowerState"] = "On"
        if handler.path.endswith("/Volumes"):
            self._make_volume(handler.path)
        handler.answer(204 if is_known else 404, None if is_known else {})
        return True

    def _make_volume(self, path: str) -> None:
        volumes, new = self.bmc.documents[path], f"{path}/new"
        more: Document = {"Members": [*(volumes.get("Members") or ()), {"@odata.id": new}]}
        if isinstance(count := volumes.get("Members@odata.count"), int):
            more["Members@odata.count"] = count + 1
        made = {"Id": "new", "Name": "new", "RAIDType": "RAID0", "CapacityBytes": 2**30}
        self.bmc.documents = {**self.bmc.documents, path: {**volumes, **more}, new: made}

    def _reads(self, task: Work) -> Counter[str]:
        seen = {name: result for name in READ if (result := attempt(partial(READS[name], task))) is not None}
        inventory, found = seen.get("inventory", {}), Counter[str]()
        json.dumps(inventory).encode()
        for name in (
            "interfaces",
            "disks",
            "storage_controllers",
            "pci_devices",
            "cpu",
            "memory",
            "boot",
            "system_vendor",
        ):
            found[name] = len(inventory.get(name, ()))
        found["drives"] = sum(len(one["drives"]) for one in inventory.get("storage_controllers", ()))
        for kind, sensors in seen.get("sensors", {}).items():
            found[kind] = len(sensors)
        for kind, lights in seen.get("indicators", {}).items():
            found[kind] = len(lights)
        settings_seen = seen.get("described BIOS settings", ())
        found["BIOS"] = len(settings_seen)
        found["BIOS_words"] = sum(1 for row in settings_seen if row["attribute_type"])
        for name in ("addresses", "virtual media", "switches", "boot devices"):
            found[name.replace(" ", "_")] = len(seen.get(name, ()))
        for name in ("power state", "boot device", "boot mode", "secure boot", "health", "vendor"):
            found[name.replace(" ", "_")] = int(seen.get(name) is not None)
        task.store.firmware.sync(task.node.id, [])
        READS["firmware"](task)
        found["firmware"] = len(task.store.firmware.values(("component",), task.node.id))
        return found

    def _orders(self, task: Work) -> Counter[str]:
        def make_disk() -> int:
            RedfishRAID().create_configuration(task, create_nonroot_volumes=True)
            return 1

        return Counter(
            boot_order=done(lambda: RedfishManagement().set_boot_device(task, "pxe")),
            power_on=done(lambda: RedfishPower().set_power_state(task, states.POWER_ON)),
            insertion=done(lambda: virtual_media.insert(task, [virtual_media.USB_STICK, virtual_media.CD], IMAGE)),
            RAID=done(make_disk),
        )


def attempt(act: Callable[[], Any]) -> Any:
    """Return a result, None for an error of the service; any other error is a fault."""
    try:
        return act()
    except IronicError as error:
        assert str(error) and not _OF_PYTHON.search(str(error)), str(error)
        return None


def done(act: Callable[[], Any]) -> int:
    """Return 1 for an order that was carried out."""
    return 0 if attempt(lambda: (act(),)) is None else 1


def places(value: Any, *, leaves: bool, place: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Yield the places of values that are neither objects nor lists, without those of links; or those of all others."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        if place and leaves:
            yield place
        return
    if place and not leaves:
        yield place
    for step, item in items:
        if step != "@odata.id":
            yield from places(item, leaves=leaves, place=(*place, step))


def replaced(document: Any, place: tuple[Step, ...], value: Any) -> Any:
    """Return a document with another value at a place, or without it."""
    changed = copy.deepcopy(document)
    owner = changed
    for step in place[:-1]:
        owner = owner[step]
    if value is DROPPED:
        del owner[place[-1]]
    else:
        owner[place[-1]] = value
    return changed


def check(machine: Machine, place: Place, left: Counter[str], most: int | None) -> None:
    """Compare what is left with what may be lost: of the kinds of this place at most so many, of others none."""
    allowed = may_take(machine.path, place)
    lost = {name: (count, left[name]) for name, count in machine.whole.items() if left[name] < count}
    wrong = {
        name: counts
        for name, counts in lost.items()
        if name not in allowed or (most is not None and name != "BIOS_words" and counts[1] < counts[0] - most)
    }
    assert wrong == {}, place


@pytest.fixture(scope="module")
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc() as running:
        yield running


@pytest.fixture(autouse=True)
def _at_once(conf: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    conf(redfish__connection_attempts=1)
    monkeypatch.setattr(virtual_media, "_SECONDS", 0.0)
    monkeypatch.setattr(stored_changes, "_SECONDS", 0.0)


@pytest.fixture(scope="module")
def machines(bmc: HostileBmc) -> dict[str, Machine]:
    return {name: Machine(bmc, name) for name in MACHINES}


def drawing(few: int, many: int) -> settings:
    """Return how many examples are drawn in every run, and in full runs."""
    checks = [HealthCheck.function_scoped_fixture]
    return settings(max_examples=many if IS_FULL else few, deadline=None, suppress_health_check=checks)


@pytest.mark.parametrize(
    "name, missing",
    [("DMTF", set()), ("Dell", {"BIOS_words"}), ("Intel", {"BIOS_words", "switches", "pci_devices"})],
)
def test_a_whole_machine_has_something_of_each_kind(machines: dict[str, Machine], name: str, missing: set[str]) -> None:
    machine = machines[name]
    assert len(machine.read) > 18 and len(machine.leaves) > 400 and len(machine.branches) > 100
    assert {kind for _, kinds in _TAKES for kind in kinds if not machine.whole[kind]} == missing


@drawing(30, 300)
@given(data=st.data())
def test_an_odd_leaf_takes_away_only_itself(machines: dict[str, Machine], data: st.DataObject) -> None:
    machine = machines[data.draw(st.sampled_from(sorted(machines)))]
    path, inside = data.draw(st.sampled_from(machine.leaves))
    odd = data.draw(st.sampled_from([*ODD, *ODD_BYTES]))
    document = replaced(machine.documents[path], inside, _MARK if isinstance(odd, bytes) else odd)

    def send_bytes(handler: Handler) -> bool:
        is_meant = isinstance(odd, bytes) and handler.path.rstrip("/") == path and not machine.after_orders
        if is_meant:
            handler.send(200, json.dumps(document).encode().replace(_MARK.encode(), odd))
        return is_meant

    check(machine, (path, inside), machine.look({**machine.documents, path: document}, send_bytes), 1)


@drawing(20, 150)
@given(data=st.data())
def test_an_odd_branch_takes_away_only_itself(machines: dict[str, Machine], data: st.DataObject) -> None:
    machine = machines[data.draw(st.sampled_from(sorted(machines)))]
    path, inside = data.draw(st.sampled_from(machine.branches))
    document = replaced(machine.documents[path], inside, data.draw(st.sampled_from(ODD)))
    check(machine, (path, inside), machine.look({**machine.documents, path: document}), None)


@drawing(15, 150)
@given(data=st.data())
def test_a_dead_resource_takes_away_only_itself(machines: dict[str, Machine], data: st.DataObject) -> None:
    machine = machines[data.draw(st.sampled_from(sorted(machines)))]
    path = data.draw(st.sampled_from(machine.read))
    answer = ANSWERS[data.draw(st.sampled_from(sorted(ANSWERS)))]

    def misbehave(handler: Handler) -> bool:
        is_meant = handler.path.rstrip("/") == path
        if is_meant:
            answer(handler)
        return is_meant

    check(machine, (path, ()), machine.look(machine.documents, misbehave), None)


@pytest.mark.parametrize("name", MACHINES)
def test_each_collection_may_come_in_pages(machines: dict[str, Machine], name: str) -> None:
    machine = machines[name]
    paged: dict[str, Any] = {}
    for path, document in machine.documents.items():
        members = document.get("Members") if isinstance(document, dict) else None
        if members:
            # The first page may be empty, and the second one has one member.
            paged[path] = {**document, "Members": [], "Members@odata.nextLink": f"{path}?$skip=0"}
            paged[f"{path}?$skip=0"] = {"Members": members[:1], "Members@odata.nextLink": f"{path}?$skip=1"}
            paged[f"{path}?$skip=1"] = {"Members": members[1:]}
    assert len(paged) > 20
    assert machine.look(machine.documents | paged) == machine.whole

"""Each leaf of recorded documents of machines, replaced by what odd BMCs send, and compared with the whole machine.

What is left of the machine has to be what the whole one shows, with gaps where the table below allows them; what is
stored is the same or left out; and the orders are those that the whole machine gets, or none with an error that says
why. What the whole machines show and get is in `ironic/tests/data/recorded_machines`, so that a function that goes
wrong for all machines shows, too. The documents are those of `recorded_machines`: DSP2043 itself, the mock-ups that the
DMTF publishes, comes in no package and is not played.

An operation is played for a leaf of a document that it reads: another document can't matter to it. In an ordinary run
each leaf gets three odd values, of three classes. Operations that it may take something from see all three, other reads
one, and other orders one for a third of the leaves. `make fuzz` plays all values with all operations.
"""

import itertools
import json
import logging
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.conf import CONF
from ironic.tests.effort import IS_FULL
from ironic.tests.functional.drivers.bmc_corpus import MOCK_UPS, complete
from ironic.tests.functional.drivers.compared_machines import DROPPED, NOTHING, Judge, Oddity
from ironic.tests.functional.drivers.played_bmc import Answer, played
from ironic.tests.functional.drivers.played_operations import OPERATIONS, Machine, Operation

Step = str | int
Place = tuple[str, tuple[Step, ...]]

# Values that say nothing, of other types, and of a right type.
SILENT: list[Any] = [DROPPED, None, "", [], {}, [None]]
FOREIGN: list[Any] = [
    {"x": [1]}, [{}], ["x"], [1], [[]], True, {"@odata.id": "/gone"}, [{"@odata.id": "http://192.0.2.7/"}],
]  # fmt: skip
WRONG: list[Any] = ["N/A", "500 GB", 0, -1, 1.5, 2**70, "\ud800", "a\u0000b", "0000-00-00T00:00:00Z"]
# What stands between the quotes of a text, as it is.
ODD_BYTES = [b"\r\n", b"\t\x01", b"\xff\xfe", b"\xc3", b"\\ud800", b"\\u0000"]
CLASSES: list[list[Any]] = [SILENT, FOREIGN, [*WRONG, *ODD_BYTES]]
_MARK = "odd bytes are here"
ANSWERS: dict[str, Answer] = {
    "404": Answer(404, b"{}"),
    "500": Answer(500, b'{"error": "boom"}'),
    "403": Answer(403, b"{}"),
    "a page": Answer(200, b"<html>"),
    "half a document": Answer(200, b'{"Id": "1", "Mem'),
    "a list": Answer(200, b"[1]"),
    "an empty object": Answer(200, b"{}"),
    "null": Answer(200, b"null"),
    "nothing": Answer(204),
    "another server": Answer(302, b"", {"Location": "http://192.0.2.7/"}),
}
DATA = Path(__file__).parents[2] / "data" / "recorded_machines"


_CARDS = "interfaces addresses"
_DISKS = "RAID RAID_replaced RAID_deleted"
_DRIVES = f"disks root_disk storage_controllers Drive indicators light {_DISKS}"
_CHASSIS = "update Fan Temperature Power switches firmware indicators light"
_MEDIA = "virtual_media insertion ejection"
_BOOT = "boot_device boot_mode boot_devices boot boot_order boot_once mode_order secure_order"
_POWER = "power_on power_off shutdown reboot reset BIOS_change BIOS_reset"
# What takes effect with a restart needs a power state that is known.
_RESTARTS = f"{_POWER} mode_order secure_order update"
# What a place may take away, by its path and the names that lead to the value; the first that fits counts.
# All that is not here may take nothing away.
_TAKES = [
    (re.compile(pattern), frozenset(kinds.split()))
    for pattern, kinds in (
        ("^/redfish/v1#(Systems|Managers|UpdateService)", f"{_MEDIA} firmware update clock"),
        ("^/redfish/v1#Registries", "BIOS_words BIOS_change"),
        ("^/redfish/v1#Vendor", "vendor"),
        ("^/redfish/v1/Systems#", "update"),
        ("^/redfish/v1/UpdateService#", "update"),
        ("/(Bios|BIOS)/Settings", "BIOS_change"),
        ("/Bios#Actions", "BIOS_reset"),
        ("/Bios#AttributeRegistry", "BIOS_words BIOS_change"),
        ("/Bios#Attributes/(?!TCG003$|NicBoot2$)", "BIOS BIOS_words"),
        ("/Bios#|^SYSTEM#Bios(/|$)", "BIOS BIOS_words BIOS_change BIOS_reset"),
        ("^/redfish/v1/Registries.*#|/BiosRegistry#", "BIOS_words BIOS_change"),
        ("/SecureBoot#|^SYSTEM#SecureBoot", "secure_boot secure_order"),
        ("/VirtualMedia(/[^/]+)?#|^SYSTEM#VirtualMedia", _MEDIA),
        ("^/redfish/v1/Managers/[^/]+#", f"{_MEDIA} firmware clock update"),
        ("SYSTEM/EthernetInterfaces|^SYSTEM#EthernetInterfaces", _CARDS),
        ("SYSTEM/Processors|^SYSTEM#Processor", "cpu"),
        ("/Storage/[^#]*/Volumes", _DISKS),
        ("/(Simple)?Storage[/#]|/Drives/|^SYSTEM#(Simple)?Storage", _DRIVES),
        ("/Thermal#Fans", "Fan"),
        ("/Thermal#Temperatures", "Temperature"),
        ("/Thermal#", "Fan Temperature"),
        ("/Power#", "Power"),
        ("/Chassis/[^/]+/NetworkAdapters", "switches firmware update"),
        ("/PCIeDevices", "pci_devices"),
        ("^/redfish/v1/Chassis/[^/]+#", _CHASSIS),
        ("^SYSTEM#PCIe", "pci_devices"),
        ("^SYSTEM#Links/Chassis", _CHASSIS),
        ("^SYSTEM#Links/ManagedBy", f"{_MEDIA} firmware clock update"),
        ("^SYSTEM#Links$", f"{_CHASSIS} {_MEDIA} clock update"),
        ("^SYSTEM#Boot", _BOOT),
        ("^SYSTEM#Status", "health"),
        ("^SYSTEM#MemorySummary", "memory"),
        ("^SYSTEM#IndicatorLED", "indicators light"),
        ("^SYSTEM#UUID", "system_vendor indicators light Extra"),
        ("^SYSTEM#BiosVersion", "firmware update"),
        ("^SYSTEM#(Manufacturer|Model|SerialNumber)", "system_vendor vendor Extra"),
        ("^SYSTEM#PowerState", f"power_state {_RESTARTS}"),
        ("^SYSTEM#Actions", _POWER),
    )
]


def of_place(table: list[tuple[re.Pattern[str], frozenset[str]]], machine: str, place: Place) -> frozenset[str]:
    """Return the kinds that a table has for a place."""
    path, inside = place
    text = f"{path.replace(machine, 'SYSTEM')}#{'/'.join(map(str, inside))}"
    return next((kinds for pattern, kinds in table if pattern.search(text)), frozenset())


# Orders that may be given in another way to the same resources, as what the BMC offers is another then.
_IN_ANOTHER_WAY = [
    (re.compile(pattern), frozenset(kinds.split()))
    for pattern, kinds in (
        # ForceOn in place of On, and the like; a restart that can't be ordered after a change of settings.
        ("^SYSTEM#Actions", _POWER),
        ("^SYSTEM#PowerState", _RESTARTS),
        # Once is stated where it is not known; a URL is cleared where there is one.
        ("^SYSTEM#Boot", "boot_order boot_once"),
        # Another time at which the BMC can do it; other free drives, or another size.
        ("/Storage/[^#]*/Volumes#@Redfish.OperationApplyTimeSupport", _DISKS),
        ("/Drives/|/Storage/[^/]+#Drives", "RAID RAID_replaced"),
        ("/Bios#@Redfish.Settings", "BIOS_change"),
        # The next drive takes the image; one without an action is emptied as a resource.
        ("/VirtualMedia(/|#)|^SYSTEM#(VirtualMedia|Links)", "insertion ejection"),
        ("^/redfish/v1/Managers/[^/]+#|^/redfish/v1#Managers", "insertion ejection"),
    )
]
# The next drive; and where a link of a test leads to.
_OTHER_PATHS = re.compile("/VirtualMedia/|^/gone$")
# Kinds that something else says instead, which is no fault.
_OTHERWISE = [
    (re.compile(pattern), frozenset(kinds.split()))
    for pattern, kinds in (
        # All devices of the service, where the BMC lists none; what the firmware says itself.
        ("^SYSTEM#Boot", "boot_devices"),
        ("/Bios#Attributes$", "BIOS"),
        ("Registr.*/Value$", "BIOS_words"),
        # The summary of processors; drives of the next owner; devices of simple storage, also those without a name.
        ("SYSTEM/Processors|^SYSTEM#Processors$", "cpu"),
        ("/VirtualMedia(/|#)|^SYSTEM#VirtualMedia", "virtual_media"),
        ("^SYSTEM#Storage|/Storage/[^/]+#Drives", "Drive"),
        ("/SimpleStorage/[^#]*#Devices", "disks"),
    )
]


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
    """Return a document with another value at a place, or without it; what is not on the way is shared."""
    step, rest = place[0], place[1:]
    changed = document.copy()
    if rest:
        changed[step] = replaced(document[step], rest, value)
    elif value is DROPPED:
        del changed[step]
    else:
        changed[step] = value
    return changed


def value_at(document: Any, place: tuple[Step, ...]) -> Any:
    """Return the value at a place."""
    for step in place:
        document = document[step]
    return document


def has(document: Any, place: tuple[Step, ...]) -> bool:
    """Return whether a document has a value at a place."""
    for step in place:
        is_there = step in document if isinstance(document, dict) else isinstance(step, int) and step < len(document)
        if not is_there:
            return False
        document = document[step]
    return True


class Played:
    """A machine, and which operations read each of its documents."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.readers: dict[str, list[Operation]] = {}
        for operation in OPERATIONS:
            for path in machine.asked[operation.name] & machine.documents.keys():
                self.readers.setdefault(path, []).append(operation)

    @cached_property
    def leaves(self) -> list[Place]:
        return [(path, place) for path in sorted(self.readers) for place in self._places(path, leaves=True)]

    @cached_property
    def branches(self) -> list[Place]:
        return [(path, place) for path in sorted(self.readers) for place in self._places(path, leaves=False)]

    def _places(self, path: str, *, leaves: bool) -> Iterator[tuple[Step, ...]]:
        return places(self.machine.documents[path], leaves=leaves)

    def key_of(self, path: str) -> tuple[str, str]:
        """Return path and content of a document, the same for all machines that have it."""
        own = self.machine.path
        return path.replace(own, "SYSTEM"), json.dumps(self.machine.documents[path]).replace(own, "SYSTEM")

    def judge(self, place: Place, most: int | None, odd: Oddity = NOTHING) -> Judge:
        tables = (_TAKES, _IN_ANOTHER_WAY, _OTHERWISE)
        may_lose, other, otherwise = (of_place(table, self.machine.path, place) for table in tables)
        return Judge(may_lose, most, odd, other, _OTHER_PATHS, otherwise)

    def faults_of_value(
        self, place: Place, odd: Any, most: int | None, is_played: Callable[[Operation], bool]
    ) -> Iterator[str]:
        """Yield what is wrong with operations when the value at a place is odd."""
        machine, (path, inside) = self.machine, place
        judge = self.judge(place, most, Oddity.of(machine.documents[path], path, inside, odd))
        if isinstance(odd, bool) and isinstance(value_at(machine.documents[path], inside), bool):
            # The other word of two is not odd.
            return
        for operation in filter(is_played, self.readers[path]):
            document = machine.prepared(operation, path)
            # A link that is absent is an answer: there is none.
            is_said = odd is DROPPED and inside == ("Storage",) and "RAID" in operation.kind
            if has(document, inside) and not is_said:
                changed = replaced(document, inside, _MARK if isinstance(odd, bytes) else odd)
                answers = None
                if isinstance(odd, bytes):
                    answers = {path: Answer(200, json.dumps(changed).encode().replace(_MARK.encode(), odd))}
                yield from self._faults(operation, place, judge, {path: changed}, answers, repr(odd))

    def faults_of_answer(self, path: str, name: str) -> Iterator[str]:
        """Yield what is wrong with operations when a document is answered for in an odd way."""
        for operation in self.readers[path]:
            yield from self._faults(
                operation, (path, ()), self.judge((path, ()), None), {}, {path: ANSWERS[name]}, name
            )

    def _faults(
        self,
        operation: Operation,
        place: Place,
        judge: Judge,
        changed: dict[str, Any],
        answers: dict[str, Answer] | None,
        odd: str,
    ) -> Iterator[str]:
        # The service root and what it leads to are kept with a connection.
        is_root = place[0] == "/redfish/v1" or "/Registries" in place[0]
        if is_root:
            self.machine.bmc.forget_root()
        left = self.machine.play(operation, changed, answers)
        if is_root:
            self.machine.bmc.forget_root()
        for fault in judge.faults(self.machine.whole[operation.name], left, operation.kind):
            yield f"{operation.name}, {place[0]}#{'/'.join(map(str, place[1]))} = {odd:.60}: {fault}"


def three_of(number: int) -> list[Any]:
    """Return odd values for a leaf, one of each class, in turn."""
    return [values[number % len(values)] for values in CLASSES]


def in_turn(one: Played, place: Place, number: int, turn: int) -> Callable[[Operation], bool]:
    """Return which operations are played for one of three values: those that the place may take something from.

    Of the others, reads are played with one of the values, and orders with one for a third of the leaves.
    """
    takes = of_place(_TAKES, one.machine.path, place)

    def is_played(operation: Operation) -> bool:
        concerned = {operation.kind, *one.machine.whole[operation.name].kinds}
        turns = 9 if operation.is_order else 3
        return IS_FULL or bool(takes & concerned) or (number + OPERATIONS.index(operation)) % turns == turn

    return is_played


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Played]]:
    directory = tmp_path_factory.mktemp("machines")
    with played() as choose:
        found = {
            name: Played(Machine(complete(make()), path, directory / name, setting, choose))
            for name, (make, path, setting) in MOCK_UPS.items()
        }
        yield found
        for one in found.values():
            one.machine.close()


@pytest.fixture(autouse=True, scope="module")
def _at_once() -> Iterator[None]:
    options = {"connection_attempts": ("redfish", 1), "keep_ports": ("inspector", "present")}
    for name, (group, value) in options.items():
        CONF.set_override(name, value, group)
    # What is logged of thousands of odd machines says nothing.
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)
    for name, (group, _value) in options.items():
        CONF.clear_override(name, group)


def drawing(few: int, many: int) -> settings:
    """Return how many examples are drawn in every run, and in full runs."""
    checks = [HealthCheck.function_scoped_fixture]
    return settings(max_examples=many if IS_FULL else few, deadline=None, suppress_health_check=checks)


def new_leaves(machines: dict[str, Played], name: str) -> list[Place]:
    """Return the leaves of a machine's documents that no machine before it has: the mock-ups share some."""
    earlier: set[tuple[str, str]] = set()
    for other in itertools.takewhile(lambda one: one != name, machines):
        earlier |= set(map(machines[other].key_of, machines[other].readers))
    played_here = machines[name]
    return [place for place in played_here.leaves if played_here.key_of(place[0]) not in earlier]


@pytest.mark.parametrize("name", MOCK_UPS)
def test_what_a_whole_machine_shows_and_gets_is_as_recorded(
    machines: dict[str, Played], name: str, tmp_path: Path
) -> None:
    whole = machines[name].machine.whole
    assert {operation: str(one.error) for operation, one in whole.items() if one.error is not None} == {}
    # A line for each operation.
    lines = [f"{json.dumps(operation)}: {json.dumps([one.kinds, one.orders])}" for operation, one in whole.items()]
    (found := tmp_path / f"{name}.json").write_text("{{\n{}\n}}\n".format(",\n".join(lines)))
    known = DATA / found.name
    assert json.loads(found.read_text()) == json.loads(known.read_text()), f"if {found} is right, copy it to {known}"


@pytest.mark.parametrize("name", MOCK_UPS)
def test_an_odd_leaf_takes_away_only_itself(machines: dict[str, Played], name: str) -> None:
    leaves, found = new_leaves(machines, name), list[str]()
    assert len(leaves) > 350
    for number, place in enumerate(leaves):
        values = [one for values in CLASSES for one in values] if IS_FULL else three_of(number)
        for turn, odd in enumerate(values):
            found += machines[name].faults_of_value(place, odd, 1, in_turn(machines[name], place, number, turn))
    assert found == []


@drawing(100, 1500)
@given(data=st.data())
def test_an_odd_branch_takes_away_only_itself(machines: dict[str, Played], data: st.DataObject) -> None:
    one = machines[data.draw(st.sampled_from(sorted(machines)))]
    place = data.draw(st.sampled_from(one.branches))
    odd = data.draw(st.sampled_from([*SILENT, *FOREIGN, *WRONG]))
    assert list(one.faults_of_value(place, odd, None, lambda _: True)) == []


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("name", MOCK_UPS)
def test_a_dead_resource_takes_away_only_itself(machines: dict[str, Played], name: str, answer: str) -> None:
    one = machines[name]
    paths = [path for path in sorted(one.readers) if path not in ("/redfish/v1", one.machine.path)]
    assert len(paths) > 18
    assert [fault for path in paths for fault in one.faults_of_answer(path, answer)] == []


@pytest.mark.parametrize("name", MOCK_UPS)
def test_each_collection_may_come_in_pages(machines: dict[str, Played], name: str) -> None:
    machine = machines[name].machine
    paged: dict[str, Any] = {}
    for path, document in machine.documents.items():
        members = document.get("Members") if isinstance(document, dict) else None
        if members:
            # The first page may be empty, and the second one has one member.
            paged[path] = {**document, "Members": [], "Members@odata.nextLink": f"{path}?$skip=0"}
            paged[f"{path}?$skip=0"] = {"Members": members[:1], "Members@odata.nextLink": f"{path}?$skip=1"}
            paged[f"{path}?$skip=1"] = {"Members": members[1:]}
    assert len(paged) > 20
    for operation in OPERATIONS:
        if "RAID" not in operation.kind:  # a volume that is made would have to appear on a page
            left = machine.play(operation, paged)
            assert (left.kinds, left.orders) == (
                machine.whole[operation.name].kinds,
                machine.whole[operation.name].orders,
            )

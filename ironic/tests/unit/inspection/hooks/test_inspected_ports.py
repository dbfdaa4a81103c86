"""Hook ports: what is decided, and what becomes of it."""

from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure
from ironic.db import Store
from ironic.inspection.hooks.inspected_ports import Plan, PortOptions, Ports, expected, mark_added, plan
from ironic.inspection.hooks.report_validation import ValidateInterfaces
from ironic.inspection.incomplete_lists import INTERFACES, mark, missing_in
from ironic.inspection.staged_task import StagedTask
from ironic.tests.conftest import Setter
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, Work, inventory, new_node, new_port, work_on

THIRD_MAC = "52:54:00:00:00:03"


def interface(mac: str, pxe_enabled: bool = False, client_id: Any = None) -> dict[str, Any]:
    return {"mac_address": mac, "pxe_enabled": pxe_enabled, "client_id": client_id}


BOOTED = {"eth0": interface(MAC, True)}
BOTH = BOOTED | {"eth1": interface(OTHER_MAC)}


def new(mac: str, pxe_enabled: bool = False, client_id: str | None = None) -> dict[str, Any]:
    return {"address": mac, "pxe_enabled": pxe_enabled, "extra": {"client-id": client_id} if client_id else {}}


@pytest.mark.demand("S101", "S102")
@pytest.mark.parametrize(
    ("existing", "valid", "add", "keep", "created", "removed"),
    [
        ([], BOTH, "all", "all", [new(MAC, True), new(OTHER_MAC)], []),
        ([MAC], BOTH, "all", "all", [new(OTHER_MAC)], []),
        ([], BOOTED, "pxe", "all", [new(MAC, True)], []),
        ([], BOTH, "disabled", "all", [], []),
        ([THIRD_MAC], BOTH, "all", "all", [new(MAC, True), new(OTHER_MAC)], []),
        ([THIRD_MAC, OTHER_MAC], BOOTED, "pxe", "present", [new(MAC, True)], [THIRD_MAC]),
        ([THIRD_MAC, OTHER_MAC], BOOTED, "pxe", "added", [new(MAC, True)], [THIRD_MAC, OTHER_MAC]),
        ([THIRD_MAC, OTHER_MAC], BOOTED, "disabled", "added", [], [THIRD_MAC, OTHER_MAC]),
        ([THIRD_MAC, OTHER_MAC], {}, "active", "added", [], []),
    ],
)
def test_it_plans_what_comes_and_goes(
    existing: list[str], valid: Any, add: str, keep: str, created: list[Any], removed: list[str]
) -> None:
    decided = plan(existing, BOTH, valid, PortOptions(add, expected(BOTH, valid, keep), True))
    assert (decided.create, decided.remove) == (created, removed)


@pytest.mark.demand("S102")
def test_it_keeps_everything_when_nothing_is_expected() -> None:
    assert expected({}, {}, "present") == expected({}, {}, "added") == expected(BOTH, BOTH, "all") is None
    assert plan([MAC], {}, {}, PortOptions("all", expected({}, {}, "present"), True)).remove == []


@pytest.mark.parametrize(
    ("update", "corrected"), [(True, {MAC: True, OTHER_MAC: False, THIRD_MAC: False}), (False, {})]
)
def test_it_corrects_what_is_booted_from(update: bool, corrected: dict[str, bool]) -> None:
    decided = plan([MAC, OTHER_MAC, THIRD_MAC], BOTH, BOTH, PortOptions("all", None, update))
    assert decided.pxe_enabled == corrected


def test_it_passes_client_ids_on() -> None:
    known = {"ib0": interface(MAC, client_id="ff:00"), "ib1": interface(OTHER_MAC, client_id="ff:01")}
    decided = plan([MAC], known, known, PortOptions("all", None, False))
    assert decided.create == [new(OTHER_MAC, client_id="ff:01")]
    assert decided.client_ids == {MAC: "ff:00"}
    odd = {"ib0": interface(MAC, client_id={"no": "text"}), "eth1": interface(OTHER_MAC, client_id="")}
    assert plan([MAC], odd, odd, PortOptions("all", None, False)) == Plan([new(OTHER_MAC)], [], {}, {})


def test_it_makes_one_port_of_interfaces_that_share_an_address() -> None:
    bond = {"eth0": interface(MAC), "bond0": interface(MAC), "bond0.100": interface(MAC)}
    assert plan([], bond, bond, PortOptions("all", None, True)).create == [new(MAC)]


@pytest.mark.demand("S87")
@pytest.mark.parametrize(("add", "added"), [("all", True), ("active", True), ("pxe", True), ("disabled", False)])
def test_it_marks_what_it_has_added(add: str, added: bool) -> None:
    valid = {name: dict(one) for name, one in BOTH.items()}
    mark_added(valid, PortOptions(add, None, True))
    assert [one["is_added"] for one in valid.values()] == [added, added]


def inspect(work: Work, found: dict[str, Any]) -> dict[str, Any]:
    """Run the hook and the one that it needs, then store what they did."""
    staged = StagedTask(work)
    data: dict[str, Any] = {}
    ValidateInterfaces().preprocess(staged, found, data)
    Ports()(staged, found, data)
    staged.commit()
    return data


@pytest.mark.demand("S87", "S101")
def test_it_creates_ports(store: Store, task: Work) -> None:
    data = inspect(task, inventory(MAC, OTHER_MAC, booted=MAC))
    assert [(port.address, port.pxe_enabled, port.extra) for port in task.ports] == [
        (MAC, True, {}),
        (OTHER_MAC, False, {}),
    ]
    assert all(one["is_added"] for one in data["valid_interfaces"].values())
    assert "is_added" not in data["all_interfaces"]["eth0"]
    inspect(task, inventory(MAC, OTHER_MAC, booted=MAC))
    assert len(store.ports.find(node_id=task.node.id)) == 2


def test_it_changes_ports_and_leaves_the_rest_of_them_alone(store: Store) -> None:
    node = new_node(store)
    new_port(store, node, MAC, pxe_enabled=False, name="mine", extra={"a": 1}, physical_network="net")
    task = work_on(store, node)
    found = inventory(MAC, booted=MAC)
    found["interfaces"][0]["client_id"] = "ff:00"
    inspect(task, found)
    (port,) = task.ports
    assert (port.pxe_enabled, port.name, port.physical_network) == (True, "mine", "net")
    assert port.extra == {"a": 1, "client-id": "ff:00"}


@pytest.mark.demand("S102")
def test_it_removes_ports(conf: Setter, store: Store) -> None:
    conf(inspector__keep_ports="present")
    node = new_node(store)
    new_port(store, node, THIRD_MAC)
    task = work_on(store, node)
    inspect(task, inventory(MAC))
    assert [port.address for port in task.ports] == [MAC]


ODD_MACS: list[Any] = [None, 5, "N/A", "", [], "00:00", "52:54:00:00:00:0g"]


@pytest.mark.parametrize("keep", ["present", "added"])
@pytest.mark.parametrize(
    "card",
    [
        *({"name": "eth1", "mac_address": odd} for odd in ODD_MACS),
        {"name": "eth1"}, {"name": None, "mac_address": THIRD_MAC}, {"mac_address": OTHER_MAC}, None, 5, "eth1", [],
    ],
)  # fmt: skip
def test_a_card_that_can_not_be_read_keeps_all_ports(conf: Setter, store: Store, keep: str, card: Any) -> None:
    conf(inspector__keep_ports=keep)
    node = new_node(store)
    new_port(store, node, MAC, pxe_enabled=True)
    new_port(store, node, THIRD_MAC, pxe_enabled=True)
    task = work_on(store, node)
    found = inventory(MAC, booted=MAC)
    found["interfaces"].append(card)
    data = inspect(task, found)
    assert {port.address: port.pxe_enabled for port in store.ports.find(node_id=node.id)} == {
        MAC: True,
        THIRD_MAC: True,
    }
    assert len(missing_in(data, INTERFACES)) == 1


def test_two_cards_of_one_name_keep_the_port_of_the_first(conf: Setter, store: Store) -> None:
    conf(inspector__keep_ports="present")
    node = new_node(store)
    new_port(store, node, MAC)
    found = inventory(MAC)
    found["interfaces"].append({"name": "eth0", "mac_address": OTHER_MAC})
    data = inspect(work_on(store, node), found)
    assert MAC in {port.address for port in store.ports.find(node_id=node.id)}
    assert missing_in(data, INTERFACES) == ["two interfaces of the report have the name 'eth0'"]


@pytest.mark.parametrize(
    ("names", "is_doubtful"),
    [
        (("eth0", "eth1"), True),
        (("eno1", "eno1np0"), True),
        (("eth0", "eth0.101"), False),
        (("eth0", "eth1", "bond0", "bond0.7"), False),
        (("eth0", "eth0"), False),
    ],
)
def test_two_cards_of_one_address_keep_the_port_of_the_other(
    conf: Setter, store: Store, names: tuple[str, ...], is_doubtful: bool
) -> None:
    conf(inspector__keep_ports="present")
    node = new_node(store)
    new_port(store, node, MAC)
    new_port(store, node, OTHER_MAC)
    found = inventory(MAC)
    found["interfaces"] = [{**found["interfaces"][0], "name": name} for name in names]
    data = inspect(work_on(store, node), found)
    assert (OTHER_MAC in {port.address for port in store.ports.find(node_id=node.id)}) is is_doubtful
    assert bool(missing_in(data, INTERFACES)) is is_doubtful


def test_what_a_report_says_of_itself_is_one_short_line() -> None:
    said = missing_in({"incomplete": {INTERFACES: ["a\n" * 5000] * 40}}, INTERFACES)
    assert len(said) == 16
    assert all(len(text) < 1000 and text.isprintable() for text in said)


def test_the_loopback_interface_is_no_card_that_is_missing(conf: Setter, store: Store) -> None:
    conf(inspector__keep_ports="present")
    node = new_node(store)
    new_port(store, node, THIRD_MAC)
    found = inventory(MAC)
    found["interfaces"].append({"name": "lo", "mac_address": "00:00:00:00:00:00"})
    inspect(work_on(store, node), found)
    assert [port.address for port in store.ports.find(node_id=node.id)] == [MAC]


def test_it_says_clearly_whose_address_it_is(store: Store, task: Work, caplog: pytest.LogCaptureFixture) -> None:
    other = new_node(store)
    new_port(store, other, OTHER_MAC)
    inspect(task, inventory(MAC, OTHER_MAC))
    assert f"MAC address {OTHER_MAC} can't become a port of node {task.node.uuid}" in caplog.text
    assert f"belongs to a port of node {other.uuid}" in caplog.text
    assert [port.address for port in store.ports.find(node_id=task.node.id)] == [MAC]


@pytest.mark.parametrize(
    "spoilt",
    [
        {},
        {"all_interfaces": {}},
        {"all_interfaces": 5, "valid_interfaces": {}},
        {"all_interfaces": {"x": {}}, "valid_interfaces": {}},
    ],
)
def test_it_fails_clearly_on_spoilt_plugin_data(task: Work, spoilt: dict[str, Any]) -> None:
    with pytest.raises(HardwareInspectionFailure, match="not those of validate-interfaces"):
        Ports()(StagedTask(task), {}, spoilt)


@pytest.mark.parametrize(
    ("boot", "after"),
    [
        (None, True),
        ({}, True),
        ({"pxe_interface": None}, True),
        ({"pxe_interface": "vcd"}, True),
        ({"pxe_interface": "00:00:00:00:00:00"}, True),
        ({"pxe_interface": OTHER_MAC}, False),
        ({"pxe_interface": MAC}, True),
    ],
)
def test_a_report_that_names_no_booted_card_leaves_what_is_known(task: Work, boot: Any, after: bool) -> None:
    new_port(task.store, task.node, MAC, pxe_enabled=True)
    found: dict[str, Any] = {**inventory(MAC, OTHER_MAC), "boot": boot}
    data: dict[str, Any] = {}
    staged = StagedTask(task)
    ValidateInterfaces().preprocess(staged, found, data)
    Ports()(staged, found, data)
    staged.commit()
    stored = {port.address: port.pxe_enabled for port in task.store.ports.find(node_id=task.node.id)}
    assert stored[MAC] is after


@pytest.mark.parametrize("odd", [True, "x", ["disks"]])
def test_a_mark_of_another_form_is_for_all_lists_and_stays(odd: object) -> None:
    data: dict[str, Any] = {"incomplete": odd}
    mark(data, "disks", ["/Drives/1 can't be read"])
    assert missing_in(data, INTERFACES) and missing_in(data, "disks")
    data = {"incomplete": {"disks": "x"}}
    mark(data, "disks", ["y"])
    assert data == {"incomplete": {"disks": ["x", "y"]}}

"""Which ports boot from the network, by what a BMC says of the firmware: from there to the flags of the ports."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.db import Store
from ironic.drivers.modules.redfish.inspect import RedfishInspect
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.unit.inspection.lab import new_node, new_port, stored_found, work_on

FIRST, SECOND, THIRD = (f"52:54:00:aa:00:0{number}" for number in (1, 2, 3))
NAMES = {"NIC.Integrated.1-1-1": FIRST, "NIC.Integrated.1-2-1": SECOND, "NIC.Slot.3-1-1": THIRD}
OPTIONS = f"{SYSTEM}/BootOptions"
ADAPTERS = "/redfish/v1/Chassis/1/NetworkAdapters"


def link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


def collection(place: str, **members: dict[str, Any]) -> dict[str, Any]:
    """Return a collection and its members, by path."""
    named = {f"{place}/{name}": {"Id": name, "Name": name, **document} for name, document in members.items()}
    return {place: {"Name": "All", "Members": [link(path) for path in named]}, **named}


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    cards = {name: {"MACAddress": mac.upper(), "Status": {"State": "Enabled"}} for name, mac in NAMES.items()}
    system: dict[str, Any] = {
        "Manufacturer": "Acme",
        "MemorySummary": {"TotalSystemMemoryGiB": 8},
        "EthernetInterfaces": link(f"{SYSTEM}/EthernetInterfaces"),
        "Boot": {"BootSourceOverrideMode": "UEFI"},
    }
    with hostile_bmc(**system) as running:
        running.documents |= collection(f"{SYSTEM}/EthernetInterfaces", **cards)
        yield running


@pytest.fixture
def store(tmp_path: Path, conf: Callable[..., Any]) -> Iterator[Store]:
    conf(redfish__inspection_hooks="validate-interfaces,ports", redfish__connection_attempts=1)
    store = sqlite_store(tmp_path)
    yield store
    store.close()


def inspected(store: Store, bmc: HostileBmc, vendor: str = "Acme", **ports: bool) -> tuple[Any, dict[str, bool]]:
    """Inspect a machine; return its task and the flags of its ports."""
    node = new_node(
        store,
        driver="redfish",
        inspect_interface="redfish",
        driver_info=bmc.driver_info(),
        properties={"vendor": vendor},
    )
    for name, enabled in ports.items():
        new_port(store, node, {"first": FIRST, "second": SECOND, "third": THIRD}[name], pxe_enabled=enabled)
    task: Any = work_on(store, node)
    RedfishInspect().inspect_hardware(task)
    return task, {port.address: port.pxe_enabled for port in store.ports.find(node_id=node.id)}


def boot_options(bmc: HostileBmc, order: Any, **paths: Any) -> None:
    bmc.documents[SYSTEM]["Boot"] |= {"BootOptions": link(OPTIONS)} | ({} if order is None else {"BootOrder": order})
    bmc.documents |= collection(
        OPTIONS, **{name: {"BootOptionReference": name, "UefiDevicePath": path} for name, path in paths.items()}
    )


def network(mac: str, rest: str = "/IPv4(0.0.0.0)") -> str:
    return f"PciRoot(0x0)/Pci(0x2,0x0)/MAC({mac.replace(':', '').upper()},0x1){rest}"


def test_boot_options_of_the_boot_order_name_the_cards(store: Store, bmc: HostileBmc) -> None:
    paths = {
        "Boot0000": "HD(1,GPT,5C0F)/\\EFI\\debian\\shimx64.efi",
        "Boot0001": network(SECOND),
        "Boot0002": network(FIRST),
        "Boot0003": network(THIRD, "/IPv6(0000:0000)/Uri()"),
        "Boot0004": network("52:54:00:99:99:99"),
    }
    boot_options(bmc, ["Boot0000", "Boot0001", "Boot0003", "Boot0004"], **paths)
    task, flags = inspected(store, bmc, first=True)
    assert flags == {FIRST: False, SECOND: True, THIRD: True}
    found = stored_found(store, store.nodes.get(task.node.uuid))
    assert found is not None
    assert found[0]["boot"] == {"current_boot_mode": "uefi", "pxe_interfaces": [SECOND, THIRD]}


def test_a_single_card_is_the_boot_interface_of_the_hooks(
    store: Store, bmc: HostileBmc, conf: Callable[..., Any]
) -> None:
    conf(inspector__add_ports="pxe")
    boot_options(bmc, None, Boot0001=network(SECOND))
    _, flags = inspected(store, bmc)
    assert flags == {SECOND: True}


def test_an_option_that_is_off_or_not_for_the_network_names_none(store: Store, bmc: HostileBmc) -> None:
    boot_options(bmc, None, Boot0001=network(FIRST), Boot0002=network(SECOND, ""), Boot0003=None, Boot0004=7)
    bmc.documents[f"{OPTIONS}/Boot0001"]["BootOptionEnabled"] = False
    _, flags = inspected(store, bmc, first=False)
    # Nobody knows: what was there stays, and new ports may boot.
    assert flags == {FIRST: False, SECOND: True, THIRD: True}


def test_an_option_without_a_path_is_no_card_where_it_is_called_otherwise(store: Store, bmc: HostileBmc) -> None:
    boot_options(bmc, ["Boot0001", "Boot0002"], Boot0001=network(FIRST), Boot0002=None)
    bmc.documents[f"{OPTIONS}/Boot0002"]["Alias"] = "Cd"
    _, flags = inspected(store, bmc, first=True, second=True)
    assert flags == {FIRST: True, SECOND: False, THIRD: False}


@pytest.mark.difference("boot options without a name")
def test_an_option_without_a_name_may_be_in_the_boot_order(store: Store, bmc: HostileBmc) -> None:
    boot_options(bmc, ["Boot0001", "Boot0002"], Boot0001=network(FIRST), Boot0002=network(SECOND))
    del bmc.documents[f"{OPTIONS}/Boot0002"]["BootOptionReference"]
    _, flags = inspected(store, bmc, first=True, second=True)
    assert flags[SECOND]


@pytest.mark.parametrize(
    "odd",
    [
        {"UefiDevicePath": 5},
        {"UefiDevicePath": ["x"]},
        {"UefiDevicePath": None},
        {"UefiDevicePath": "", "Alias": "Pxe"},
        {"BootOptionEnabled": "maybe"},
        None,
    ],
)
def test_boot_options_that_cannot_be_read_leave_it_as_it_is(store: Store, bmc: HostileBmc, odd: Any) -> None:
    adapters, chassis = "/redfish/v1/Chassis/C/NetworkAdapters", "/redfish/v1/Chassis/C"
    boot_options(bmc, None, Boot0001=network(FIRST), Boot0002=network(SECOND))
    path = f"{OPTIONS}/Boot0002"
    bmc.documents[path] = odd if odd is None else {**bmc.documents[path], **odd}
    # Another place would name another card.
    bmc.documents[SYSTEM]["Links"] = {"Chassis": [link(chassis)]}
    bmc.documents[chassis] = {"Id": "C", "Name": "C", "ChassisType": "Blade", "NetworkAdapters": link(adapters)}
    bmc.documents |= collection(adapters, A={"NetworkDeviceFunctions": link(f"{adapters}/A/F")})
    function = {"BootMode": "PXE", "Ethernet": {"MACAddress": THIRD}}
    bmc.documents |= collection(f"{adapters}/A/F", F=function)
    _, flags = inspected(store, bmc, first=False, second=True, third=False)
    assert flags == {FIRST: False, SECOND: True, THIRD: False}


def test_existing_ports_stay_as_they_are_where_operators_want_it(
    store: Store, bmc: HostileBmc, conf: Callable[..., Any]
) -> None:
    conf(inspector__update_pxe_enabled=False)
    boot_options(bmc, None, Boot0001=network(SECOND))
    _, flags = inspected(store, bmc, first=True, second=False)
    assert flags == {FIRST: True, SECOND: False, THIRD: False}


def dell(bmc: HostileBmc, **attributes: str) -> None:
    bmc.documents[SYSTEM] |= {"Manufacturer": "Dell Inc.", "Bios": link(f"{SYSTEM}/Bios")}
    bmc.documents[f"{SYSTEM}/Bios"] = {"Id": "Bios", "Name": "Bios", "Attributes": attributes}


DEVICES = {
    "PxeDev1EnDis": "Enabled", "PxeDev1Interface": "NIC.Integrated.1-2-1",
    "PxeDev2EnDis": "Disabled", "PxeDev2Interface": "NIC.Integrated.1-1-1",
    "PxeDev3EnDis": "Enabled", "PxeDev3Interface": "NIC.Gone.1",
}  # fmt: skip


@pytest.mark.difference("boot cards in BIOS attributes")
def test_dell_names_the_cards_in_bios_attributes(store: Store, bmc: HostileBmc) -> None:
    dell(bmc, **DEVICES)
    # These say otherwise, and are not asked.
    boot_options(bmc, None, Boot0001=network(FIRST))
    _, flags = inspected(store, bmc, vendor="Dell Inc.")
    assert flags == {FIRST: False, SECOND: True, THIRD: False}
    assert bmc.count("GET", OPTIONS) == 0


@pytest.mark.parametrize("vendor, mode", [("Acme", "UEFI"), ("Dell Inc.", "Legacy")])
def test_bios_attributes_count_for_dell_in_uefi_mode_only(
    store: Store, bmc: HostileBmc, vendor: str, mode: str
) -> None:
    dell(bmc, **DEVICES)
    boot_options(bmc, None, Boot0001=network(FIRST))
    bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideMode"] = mode
    _, flags = inspected(store, bmc, vendor=vendor)
    assert flags == {FIRST: True, SECOND: mode == "Legacy", THIRD: mode == "Legacy"}


@pytest.mark.parametrize("mode, flag", [("PXE", True), ("HTTP", True), ("iSCSI", None), ("Disabled", None), (5, None)])
def test_functions_of_network_adapters_have_a_boot_mode(
    store: Store, bmc: HostileBmc, mode: Any, flag: bool | None
) -> None:
    functions = f"{ADAPTERS}/N/NetworkDeviceFunctions"
    bmc.documents[SYSTEM]["Links"] = {"Chassis": [link("/redfish/v1/Chassis/1")]}
    bmc.documents["/redfish/v1/Chassis/1"] = {
        "Id": "1", "Name": "Chassis", "ChassisType": "RackMount", "NetworkAdapters": link(ADAPTERS),
    }  # fmt: skip
    bmc.documents |= collection(ADAPTERS, N={"NetworkDeviceFunctions": link(functions)})
    bmc.documents |= collection(
        functions,
        one={"Ethernet": {"MACAddress": THIRD.upper().replace(":", "-")}, "BootMode": mode},
        two={"Ethernet": {"MACAddress": FIRST.upper()}, "BootMode": "Disabled"},
        three={"BootMode": "PXE"},
    )
    _, flags = inspected(store, bmc)
    assert flags == ({FIRST: False, SECOND: False, THIRD: True} if flag else dict.fromkeys(NAMES.values(), True))


@pytest.mark.parametrize("order", [["Boot0001", 5], 5, {}, [None]])
def test_an_order_that_is_read_in_half_names_none(store: Store, bmc: HostileBmc, order: Any) -> None:
    boot_options(bmc, order, Boot0001=network(FIRST), Boot0002=network(SECOND))
    _, flags = inspected(store, bmc)
    assert flags == dict.fromkeys(NAMES.values(), True)


@pytest.mark.parametrize("nonsense", [{}, [], {"Members": 1}, {"Members": [7, {"@odata.id": 7}, link("/nowhere")]}])
def test_nonsense_in_place_of_boot_options_names_none(store: Store, bmc: HostileBmc, nonsense: Any) -> None:
    boot_options(bmc, "Boot0001", Boot0001=network(FIRST))
    bmc.documents[OPTIONS] = nonsense
    _, flags = inspected(store, bmc)
    assert flags == dict.fromkeys(NAMES.values(), True)


@pytest.mark.parametrize("broken", [b"", b"<html>", b"[1", b"\xff"])
def test_an_answer_that_is_none_does_not_fail_the_inspection(store: Store, bmc: HostileBmc, broken: bytes) -> None:
    boot_options(bmc, None, Boot0001=network(FIRST))

    def misbehave(handler: Handler) -> bool:
        if handler.path.startswith(f"{OPTIONS}/"):
            handler.send(200, broken)
        return handler.path.startswith(f"{OPTIONS}/")

    bmc.misbehave = misbehave
    _, flags = inspected(store, bmc)
    assert flags == dict.fromkeys(NAMES.values(), True)


def test_a_bmc_with_endless_boot_options_is_not_asked_for_all(store: Store, bmc: HostileBmc) -> None:
    boot_options(bmc, None, **{f"Boot{number:04}": "HD(1)" for number in range(200)})
    inspected(store, bmc)
    assert sum(path.startswith(f"{OPTIONS}/") for _, path in bmc.requests) == 0


def test_a_card_that_is_off_becomes_a_port_and_one_without_an_address_does_not(
    store: Store, bmc: HostileBmc, caplog: pytest.LogCaptureFixture
) -> None:
    place = f"{SYSTEM}/EthernetInterfaces"
    bmc.documents[f"{place}/NIC.Integrated.1-1-1"] |= {
        "Status": {"State": "Disabled"}, "MACAddress": FIRST.replace(":", "-"),
    }  # fmt: skip
    bmc.documents[f"{place}/NIC.Integrated.1-2-1"]["MACAddress"] = "none"
    bmc.documents[f"{place}/NIC.Slot.3-1-1"]["MACAddress"] = None
    _, flags = inspected(store, bmc)
    assert flags == {FIRST: True}
    assert "NIC.Integrated.1-2-1" in caplog.text and "NIC.Slot.3-1-1" in caplog.text

"""Sensors, indicators and devices of a machine whose BMC reports all of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from ironic.core.errors import MissingParameterValue
from ironic.drivers.contract import indicators
from ironic.drivers.modules.bmc.bmc_gateway import RECENT
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.tree.bmc_devices import parsed_lldp
from ironic.drivers.modules.redfish.tree.inventory import inventory_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

CHASSIS = "/redfish/v1/Chassis/1"
ADAPTER = f"{CHASSIS}/NetworkAdapters/N"
STORAGE = f"{SYSTEM}/Storage"
OK = {"State": "Enabled", "Health": "OK"}
UUID = "11112222-3333-4444-5555-666677778888"


def members(name: str, *paths: str) -> dict[str, Any]:
    return {"Name": name, "Members": [{"@odata.id": path} for path in paths]}


def link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    system: dict[str, Any] = {
        "UUID": UUID,
        "Manufacturer": "Acme",
        "Model": "M1",
        "SerialNumber": "S1",
        "IndicatorLED": "Off",
        "Links": {"Chassis": [link(CHASSIS)]},
        "Storage": link(STORAGE),
        "PCIeDevices": link(f"{SYSTEM}/PCIeDevices"),
    }
    with hostile_bmc(**system) as running:
        running.documents |= {
            CHASSIS: {
                "Id": "1",
                "Name": "Chassis",
                "ChassisType": "RackMount",
                "UUID": "c-uuid",
                "IndicatorLED": "Lit",
                "Thermal": link(f"{CHASSIS}/Thermal"),
                "Power": link(f"{CHASSIS}/Power"),
                "NetworkAdapters": link(f"{CHASSIS}/NetworkAdapters"),
            },
            f"{CHASSIS}/Thermal": {
                "Id": "Thermal",
                "Name": "Thermal",
                "Fans": [{"MemberId": "0", "Name": "F", "Reading": 2000, "ReadingUnits": "RPM", "Status": OK}],
                "Temperatures": [{"MemberId": "0", "Name": "T", "ReadingCelsius": 40}],
            },
            f"{CHASSIS}/Power": {
                "Id": "Power",
                "Name": "Power",
                "PowerSupplies": [{"MemberId": "0", "PowerCapacityWatts": 750, "Status": OK}],
            },
            f"{CHASSIS}/NetworkAdapters": members("Adapters", ADAPTER),
            ADAPTER: {"Id": "N", "Ports": link(f"{ADAPTER}/Ports")},
            f"{ADAPTER}/Ports": members("Ports", f"{ADAPTER}/Ports/1", f"{ADAPTER}/Ports/2"),
            f"{ADAPTER}/Ports/1": {
                "Id": "NIC.1",
                "Name": "Port",
                "Ethernet": {"LLDPReceive": {"ChassisId": "aa:bb", "PortId": "Eth1", "ManagementVlanId": 7}},
            },
            f"{ADAPTER}/Ports/2": {"Id": "NIC.2", "Name": "Port"},
            STORAGE: members("Storage", f"{STORAGE}/R"),
            f"{STORAGE}/R": {
                "Id": "R",
                "Name": "RAID",
                "Drives": [link(f"{STORAGE}/R/D1"), link(f"{STORAGE}/R/D2")],
                "StorageControllers": [
                    {"MemberId": "0", "Name": "C", "SupportedRAIDTypes": ["RAID1"], "SpeedGbps": 12, "Status": OK}
                ],
            },
            f"{STORAGE}/R/D1": {
                "Id": "D1",
                "Name": "Disk 1",
                "CapacityBytes": 480_000_000_000,
                "MediaType": "SSD",
                "Protocol": "SAS",
                "IndicatorLED": "Blinking",
                "Status": {"Health": "OK"},
            },
            f"{STORAGE}/R/D2": {"Id": "D2", "Name": "Disk 2"},
            f"{SYSTEM}/PCIeDevices": members("PCI", f"{SYSTEM}/PCIeDevices/1"),
            f"{SYSTEM}/PCIeDevices/1": {
                "Id": "1",
                "Name": "Card",
                "PCIeFunctions": link(f"{SYSTEM}/PCIeDevices/1/Functions"),
            },
            f"{SYSTEM}/PCIeDevices/1/Functions": members("Functions", f"{SYSTEM}/PCIeDevices/1/Functions/0"),
            f"{SYSTEM}/PCIeDevices/1/Functions/0": {
                "Id": "0",
                "Name": "F0",
                "DeviceClass": "NetworkController",
                "DeviceId": "0x1572",
                "VendorId": "0x8086",
                "RevisionId": "0x02",
            },
        }
        yield running


def on(bmc: HostileBmc) -> Work:
    return work_on(driver_info=bmc.driver_info())


@pytest.mark.difference("drives without a state")
def test_sensors_have_names_and_fields_of_the_contract(bmc: HostileBmc) -> None:
    sensors = RedfishManagement().get_sensors_data(on(bmc))
    assert {kind: set(found) for kind, found in sensors.items()} == {
        "Fan": {"0@1"},
        "Temperature": {"0@1"},
        "Power": {"0:Power@1"},
        "Drive": {"Disk 1:R@1"},
        "Extra": {"Manufacturer", "Model", "UUID"},
    }
    extra: dict[str, Any] = sensors["Extra"]
    assert extra == {"Manufacturer": "Acme", "Model": "M1", "UUID": UUID}
    assert "state" not in sensors["Temperature"]["0@1"], "a probe without a status"
    drive = sensors["Drive"]["Disk 1:R@1"]
    assert (drive["state"], drive["health"], drive["capacity_bytes"]) == ("Enabled", "OK", 480_000_000_000)
    assert sensors["Power"]["0:Power@1"]["power_capacity_watts"] == 750


@pytest.mark.parametrize("status", [404, 500])
def test_parts_without_sensors_hide_no_others(bmc: HostileBmc, status: int) -> None:
    """As an enclosure, which has no fans of its own, and a controller that is broken."""
    bmc.documents[SYSTEM]["Links"]["Chassis"].insert(0, link(f"{CHASSIS}0"))
    bmc.documents[f"{CHASSIS}0"] = {"Id": "10", "Name": "Enclosure", "ChassisType": "Enclosure"}
    bmc.documents[STORAGE]["Members"].insert(0, link(f"{STORAGE}/B"))
    bmc.documents[f"{STORAGE}/B"] = {"Id": "B", "Name": "broken", "Drives": [link(f"{STORAGE}/B/D")]}

    def misbehave(handler: Handler) -> bool:
        is_broken = handler.path == f"{STORAGE}/B/D"
        if is_broken:
            handler.answer(status, {})
        return is_broken

    bmc.misbehave = misbehave
    sensors = RedfishManagement().get_sensors_data(on(bmc))
    assert {kind: set(sensors[kind]) for kind in ("Fan", "Temperature", "Power", "Drive")} == {
        "Fan": {"0@1"},
        "Temperature": {"0@1"},
        "Power": {"0:Power@1"},
        "Drive": {"Disk 1:R@1"},
    }
    assert set(RedfishManagement().get_supported_indicators(on(bmc), "disk")["disk"]) == {"R:D1"}


def test_indicators_are_named_by_uuid_and_drive(bmc: HostileBmc) -> None:
    management, task = RedfishManagement(), on(bmc)
    found = management.get_supported_indicators(task)
    assert {component: set(lights) for component, lights in found.items()} == {
        "system": {UUID},
        "chassis": {"c-uuid"},
        "disk": {"R:D1"},
    }
    assert management.get_indicator_state(task, "disk", "R:D1") == indicators.BLINKING
    with pytest.raises(MissingParameterValue, match="D2"):
        management.get_indicator_state(task, "disk", "R:D2")


def test_the_inventory_has_controllers_cards_and_identity(bmc: HostileBmc) -> None:
    found = read(on(bmc), "looking", inventory_of)
    assert found["system_vendor"]["system_uuid"] == UUID
    (storage,) = found["storage_controllers"]
    assert (storage["id"], storage["storage_controllers"][0]["raid_types"]) == ("R", ["RAID1"])
    assert [(drive["id"], drive["media_type"], drive["protocol"]) for drive in storage["drives"]] == [
        ("D1", "SSD", "SAS"),
        ("D2", None, None),
    ]
    (card,) = found["pci_devices"]
    assert (card["class"], card["product_id"], card["vendor_id"]) == ("NetworkController", "0x1572", "0x8086")


def test_what_switches_say_is_found_by_port(bmc: HostileBmc) -> None:
    found = read(on(bmc), "looking", parsed_lldp)
    assert found == {"NIC.1": {"switch_chassis_id": "aa:bb", "switch_port_id": "Eth1", "switch_vlan_id": 7}}


def test_ports_of_one_id_are_told_apart_by_their_adapters(bmc: HostileBmc) -> None:
    other = f"{ADAPTER}2"
    bmc.documents[f"{CHASSIS}/NetworkAdapters"]["Members"].append(link(other))
    bmc.documents[other] = {"Id": "O", "Ports": link(f"{other}/Ports")}
    bmc.documents[f"{other}/Ports"] = members("Ports", f"{other}/Ports/1")
    bmc.documents[f"{other}/Ports/1"] = {"Id": "NIC.1", "Ethernet": {"LLDPReceive": {"PortId": "Eth2"}}}
    found = read(on(bmc), "looking", parsed_lldp)
    assert {name: port["switch_port_id"] for name, port in found.items()} == {"NIC.1": "Eth1", "O.NIC.1": "Eth2"}


@pytest.mark.parametrize("missing", [STORAGE, f"{CHASSIS}/NetworkAdapters", f"{SYSTEM}/PCIeDevices", ADAPTER, CHASSIS])
def test_branches_may_be_missing(bmc: HostileBmc, missing: str) -> None:
    del bmc.documents[missing]
    found = read(on(bmc), "looking", inventory_of)
    assert found["system_vendor"]["product_name"] == "M1"


# What a BMC lists and the machine does not have


def give(bmc: HostileBmc, name: str, *parts: dict[str, Any]) -> None:
    """Put resources into a collection of the system."""
    collection = f"{SYSTEM}/{name}"
    paths = [f"{collection}/{number}" for number in range(len(parts))]
    bmc.documents[SYSTEM][name] = link(collection)
    bmc.documents[collection] = members(name, *paths)
    bmc.documents |= {path: {"@odata.id": path, **part} for path, part in zip(paths, parts, strict=True)}


@pytest.mark.parametrize(
    "other",
    [
        {"ProcessorType": "GPU", "TotalThreads": 4096, "Model": "accelerator", "Status": OK},
        {"ProcessorType": "FPGA"},
        {"ProcessorType": "CPU", "Status": {"State": "Absent"}, "Model": "none"},
        {"Status": {"State": "Absent"}},
    ],
)
def test_accelerators_and_empty_sockets_are_no_cpus(bmc: HostileBmc, other: dict[str, Any]) -> None:
    cpu = {"ProcessorArchitecture": "x86", "Model": "Z", "TotalThreads": 16}
    give(bmc, "Processors", other, {**cpu, "ProcessorType": "CPU", "Status": OK}, cpu)
    found = read(on(bmc), "reading", inventory_of)["cpu"]
    assert found == {"count": 32, "architecture": "x86_64", "model_name": "Z", "socket_count": 2}


def test_an_empty_bay_is_no_disk(bmc: HostileBmc) -> None:
    before = read(on(bmc), "reading", inventory_of)["disks"]
    bay = f"{STORAGE}/bay"
    (storage,) = (path for path, found in bmc.documents.items() if path.startswith(STORAGE) and "Drives" in found)
    bmc.documents[storage]["Drives"].append(link(bay))
    bmc.documents[bay] = {"@odata.id": bay, "Name": "Bay 9", "Status": {"State": "Absent"}}
    RECENT._kept.clear()
    assert read(on(bmc), "reading", inventory_of)["disks"] == before


@pytest.mark.difference("other forms of MAC addresses")
@pytest.mark.parametrize(
    "shown, address",
    [
        ("52:54:00:00:00:0A", "52:54:00:00:00:0a"),
        ("52-54-00-00-00-0a", "52:54:00:00:00:0a"),
        ("525400 00000A", "52:54:00:00:00:0a"),
        ("5254.0000.000a", "52:54:00:00:00:0a"),
        ("00:00:00:00:00:00", None),
        ("FF:FF:FF:FF:FF:FF", None),
        ("00:00:10:29:fe:80:00:00:00:00:00:00:ec:0d:9a:03:00:78:64:11", None),
        ("52:54:0:0:0:a", "52:54:00:00:00:0a"),
        ("", None),
        (None, None),
    ],
)
def test_mac_addresses_are_read_in_every_form(bmc: HostileBmc, shown: str | None, address: str | None) -> None:
    give(bmc, "EthernetInterfaces", {"MACAddress": shown}, {"MACAddress": shown, "PermanentMACAddress": "525400000001"})
    found = [card["mac_address"] for card in read(on(bmc), "reading", inventory_of)["interfaces"]]
    assert found == [address or "52:54:00:00:00:01"]

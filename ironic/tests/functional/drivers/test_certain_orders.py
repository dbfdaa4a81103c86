"""Orders and facts that need a whole answer of a BMC, or one that names the right part."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.core.errors import IronicError
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract import waits
from ironic.drivers.contract.task import BareDriver, Waiter
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.firmware import RedfishFirmware
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.drivers.modules.redfish.tree.members import bmc_of
from ironic.drivers.modules.redfish.tree.network_cards import seen_cards
from ironic.drivers.modules.redfish.tree.processors_and_memory import memory_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_odd_machines import on
from ironic.tests.unit.drivers.machine import Work

BMC, ENCLOSURE = "/redfish/v1/Managers/1", "/redfish/v1/Managers/E"
SLOTS = f"{BMC}/VirtualMedia"
EJECT = f"{SLOTS}/Cd/Actions/VirtualMedia.EjectMedia"
CARDS = f"{SYSTEM}/EthernetInterfaces"


def link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    """Run a BMC with an image in its drive, beside an enclosure manager."""
    with hostile_bmc() as running:
        running.documents[SYSTEM] |= {"Links": {"ManagedBy": [link(BMC), link(ENCLOSURE)]}}
        for path, kind in ((BMC, "BMC"), (ENCLOSURE, "EnclosureManager")):
            running.documents[path] = {"Id": path[-1], "ManagerType": kind, "DateTime": "2026-01-01T00:00:00+00:00"}
        running.documents[BMC] |= {"VirtualMedia": link(SLOTS), "Links": {"ManagerForServers": [link(SYSTEM)]}}
        running.documents[SLOTS] = {"Name": "Slots", "Members": [link(f"{SLOTS}/Cd")]}
        running.documents[f"{SLOTS}/Cd"] = {
            "Id": "Cd", "MediaTypes": ["CD"], "Image": "http://192.0.2.5/x.iso", "Inserted": True,
            "Actions": {"#VirtualMedia.EjectMedia": {"target": EJECT}},
        }  # fmt: skip
        yield running


@pytest.mark.parametrize("odd", [1, "yes", None, {}, [], True])
def test_a_drive_that_is_not_empty_for_certain_is_emptied(bmc: HostileBmc, odd: Any) -> None:
    bmc.documents[f"{SLOTS}/Cd"]["Inserted"] = odd
    RedfishManagement().detach_virtual_media(on(bmc))
    assert bmc.count("POST", EJECT) == 1


def test_an_ejection_that_is_accepted_and_not_carried_out_is_no_success(bmc: HostileBmc) -> None:
    def misbehave(handler: Handler) -> bool:
        is_order = handler.path == EJECT
        if is_order:
            handler.send(204, b"")
        return is_order

    bmc.misbehave = misbehave
    with pytest.raises(RedfishError, match="accepted to eject the image and does not show the drive empty"):
        RedfishManagement().detach_virtual_media(on(bmc))
    assert bmc.count("POST", EJECT) == 1


def test_an_empty_drive_is_left_alone(bmc: HostileBmc) -> None:
    bmc.documents[f"{SLOTS}/Cd"] |= {"Inserted": False, "Image": None}
    RedfishManagement().detach_virtual_media(on(bmc))
    assert bmc.count("POST", EJECT) == 0


@pytest.mark.parametrize("path", [BMC, SLOTS, f"{SLOTS}/Cd"])
def test_nothing_is_ejected_where_drives_cannot_be_read_and_that_is_said(bmc: HostileBmc, path: str) -> None:
    bmc.documents[path] = None
    with pytest.raises(RedfishError, match="virtual drives are not all shown"):
        RedfishManagement().detach_virtual_media(on(bmc))
    assert bmc.count("POST", EJECT) == 0


def test_drives_of_managers_that_may_be_of_the_machine_are_not_taken_for_none(bmc: HostileBmc) -> None:
    managers = "/redfish/v1/Managers"
    bmc.documents["/redfish/v1"]["Managers"] = link(managers)
    bmc.documents[managers] = {"Name": "Managers", "Members": [link(BMC), link(ENCLOSURE)]}
    del bmc.documents[SYSTEM]["Links"], bmc.documents[BMC]["Links"]
    with pytest.raises(RedfishError, match=f"it is not known whether manager {BMC} is its own"):
        RedfishManagement().detach_virtual_media(on(bmc))
    del bmc.documents[BMC]["VirtualMedia"]
    RedfishManagement().detach_virtual_media(on(bmc))
    assert bmc.count("POST", EJECT) == 0


def test_an_image_may_stay_in_a_drive_of_a_bmc_that_cannot_be_read(bmc: HostileBmc) -> None:
    drive = bmc.documents.pop(f"{SLOTS}/Cd")
    own = f"{SYSTEM}/VirtualMedia"
    bmc.documents[SYSTEM]["VirtualMedia"] = link(own)
    bmc.documents |= {own: {"Name": "Slots", "Members": [link(f"{own}/Cd")]}, f"{own}/Cd": drive}
    del bmc.documents[BMC]
    with pytest.raises(RedfishError, match="virtual drives are not all shown"):
        RedfishManagement().detach_virtual_media(on(bmc))
    # What can be seen is emptied all the same.
    assert bmc.count("POST", EJECT) == 1


def test_a_dead_drive_for_another_medium_stops_nothing(bmc: HostileBmc) -> None:
    bmc.documents[SLOTS]["Members"].append(link(f"{SLOTS}/Floppy"))
    RedfishManagement().detach_virtual_media(on(bmc), ["cdrom"])
    assert bmc.count("POST", EJECT) == 1


def test_the_bmc_is_chosen_by_what_it_says_and_never_for_one_that_is_dead(bmc: HostileBmc) -> None:
    found: list[dict[str, Any]] = [bmc.documents.pop(path) for path in (ENCLOSURE, BMC)]
    with pytest.raises(RedfishError, match="which of its managers is the BMC"):
        read(on(bmc), "reading", bmc_of)
    bmc.documents[BMC] = found[1]
    assert read(on(bmc), "reading", bmc_of).path == BMC
    del bmc.documents[BMC]
    bmc.documents[ENCLOSURE] = found[0]
    with pytest.raises(RedfishError, match=BMC):
        RedfishManagement().set_bmc_clock(on(bmc), "2026-02-02T00:00:00+00:00")
    assert bmc.count("PATCH", ENCLOSURE) == 0


def test_cards_that_cannot_be_read_are_missing_and_those_of_a_neighbour_are_none(bmc: HostileBmc) -> None:
    chassis = "/redfish/v1/Chassis/1"
    bmc.documents[SYSTEM] |= {"EthernetInterfaces": link(CARDS), "Links": {"Chassis": [link(chassis)]}}
    bmc.documents[CARDS] = {"Members": [link(f"{CARDS}/1"), link(f"{CARDS}/gone")]}
    bmc.documents[f"{CARDS}/1"] = {"Id": "1", "MACAddress": "52:54:00:00:00:01"}
    seen = read(on(bmc), "reading", seen_cards)
    assert [card.mac_address for card in seen.items] == ["52:54:00:00:00:01"]
    assert seen.missing == (f"{CARDS}/gone can't be read",)
    # One that can't be read is no reason to look elsewhere; one that is not there is.
    adapters = f"{chassis}/NetworkAdapters"
    machines = [link(SYSTEM), link("/redfish/v1/Systems/2")]
    bmc.documents[chassis] = {
        "Id": "1", "ChassisType": "Other", "NetworkAdapters": link(adapters), "Links": {"ComputerSystems": machines},
    }  # fmt: skip
    bmc.documents[adapters] = {"Members": [link(f"{adapters}/A")]}
    bmc.documents[f"{adapters}/A"] = {"Id": "A", "NetworkDeviceFunctions": link(f"{adapters}/A/F")}
    bmc.documents[f"{adapters}/A/F"] = {"Members": [link(f"{adapters}/A/F/1")]}
    bmc.documents[f"{adapters}/A/F/1"] = {"Id": "1", "Ethernet": {"MACAddress": "52:54:00:00:00:09"}}
    del bmc.documents[CARDS]
    assert read(on(bmc), "reading", seen_cards).items == ()
    del bmc.documents[SYSTEM]["EthernetInterfaces"]
    for named in (machines, []):
        bmc.documents[chassis]["Links"] = {"ComputerSystems": named}
        bmc.documents["/redfish/v1/Systems"]["Members"] = [link(SYSTEM), link("/redfish/v1/Systems/2")]
        seen = read(on(bmc), "reading", seen_cards)
        assert seen.items == () and "is not said" in seen.missing[0]
    bmc.documents[chassis]["Links"] = {"ComputerSystems": machines}
    machines.pop()
    assert [card.mac_address for card in read(on(bmc), "reading", seen_cards).items] == ["52:54:00:00:00:09"]


@pytest.mark.parametrize(
    "odd, is_whole",
    [
        ({"Ethernet": {"MACAddress": None}}, False),
        ({"Ethernet": {"MACAddress": "N/A"}}, False),
        ({"Ethernet": None}, False),
        ({"NetDevFuncType": "Ethernet"}, False),
        ({"NetDevFuncType": "FibreChannel"}, True),
    ],
)
def test_a_function_without_its_address_is_a_card_that_is_missing(
    bmc: HostileBmc, odd: dict[str, Any], is_whole: bool
) -> None:
    chassis, functions = "/redfish/v1/Chassis/1", "/redfish/v1/Chassis/1/NetworkAdapters/A/F"
    adapters = functions.removesuffix("/A/F")
    bmc.documents[SYSTEM]["Links"] = {"Chassis": [link(chassis)]}
    links = {"ComputerSystems": [link(SYSTEM)]}
    bmc.documents |= {
        chassis: {"Id": "1", "ChassisType": "Other", "NetworkAdapters": link(adapters), "Links": links},
        adapters: {"Members": [link(f"{adapters}/A")]},
        f"{adapters}/A": {"Id": "A", "NetworkDeviceFunctions": link(functions)},
        functions: {"Members": [link(f"{functions}/1"), link(f"{functions}/2")]},
        f"{functions}/1": {"Id": "1", "Ethernet": {"MACAddress": "52:54:00:00:00:01"}},
        f"{functions}/2": {"Id": "2", **odd},
    }
    seen = read(on(bmc), "reading", seen_cards)
    assert [card.mac_address for card in seen.items] == ["52:54:00:00:00:01"]
    assert seen.missing == (() if is_whole else (f"the MAC address of {functions}/2 is not valid",))
    # One machine in the place of a list may be one of several.
    bmc.documents[chassis]["Links"] = {"ComputerSystems": link(SYSTEM)}
    assert read(on(bmc), "reading", seen_cards).items == ()
    bmc.documents[chassis]["Links"]["ComputerSystems@odata.count"] = 1
    assert len(read(on(bmc), "reading", seen_cards).items) == 1


@pytest.mark.parametrize("more, is_whole", [({}, False), ({"VLAN": {"VLANEnable": True, "VLANId": 7}}, True)])
def test_two_cards_of_one_address_are_not_all_cards(bmc: HostileBmc, more: dict[str, Any], is_whole: bool) -> None:
    bmc.documents[SYSTEM]["EthernetInterfaces"] = link(CARDS)
    bmc.documents[CARDS] = {"Members": [link(f"{CARDS}/1"), link(f"{CARDS}/2")]}
    bmc.documents[f"{CARDS}/1"] = {"Id": "1", "MACAddress": "52:54:00:00:00:01"}
    bmc.documents[f"{CARDS}/2"] = {"Id": "2", "MACAddress": "52-54-00-00-00-01", **more}
    seen = read(on(bmc), "reading", seen_cards)
    assert [card.mac_address for card in seen.items] == ["52:54:00:00:00:01"]
    assert seen.missing == (() if is_whole else (f"{CARDS}/1 and {CARDS}/2 have one MAC address",))


@pytest.mark.parametrize("chassis", [None, "x", [None], [link("/gone")], [link("/redfish/v1/Chassis/1"), 5], {}])
def test_cards_of_a_chassis_that_cannot_be_read_are_missing(bmc: HostileBmc, chassis: Any) -> None:
    bmc.documents[SYSTEM]["Links"] = {"Chassis": chassis}
    assert read(on(bmc), "reading", seen_cards).missing != ()
    bmc.documents[SYSTEM]["Links"] = {"Chassis": []}
    assert read(on(bmc), "reading", seen_cards).missing == ()


@pytest.mark.parametrize("odd", [None, {"Members": None}, {"Members": [link(SYSTEM), None]}])
def test_an_update_that_may_be_for_another_machine_names_the_list(bmc: HostileBmc, odd: Any) -> None:
    bmc.documents["/redfish/v1/UpdateService"] = {
        "Id": "U", "Actions": {"#UpdateService.SimpleUpdate": {"target": "/redfish/v1/UpdateService/Update"}},
    }  # fmt: skip
    bmc.documents["/redfish/v1"]["UpdateService"] = link("/redfish/v1/UpdateService")

    def misbehave(handler: Handler) -> bool:
        is_dead = odd is None and handler.path == "/redfish/v1/Systems"
        if is_dead:
            handler.send(500, b"")
        return is_dead

    bmc.documents["/redfish/v1/Systems"], bmc.misbehave = odd, misbehave
    settings = [{"component": "bmc", "url": "http://192.0.2.7/x.bin"}]
    with pytest.raises(RedfishError, match="what it shows at /redfish/v1/Systems is incomplete"):
        RedfishFirmware().update(on(bmc, provision_state=states.CLEANING), settings)
    assert bmc.count("POST", "/redfish/v1/UpdateService/Update") == 0


@pytest.mark.parametrize("odd", [5, {}, ["UEFI"], "Weird", ""])
def test_a_boot_mode_of_which_the_bmc_shows_something_else_is_not_set(bmc: HostileBmc, odd: Any) -> None:
    bmc.documents[SYSTEM]["Boot"] = {"BootSourceOverrideMode": odd}
    with pytest.raises(RedfishError, match="BootSourceOverrideMode"):
        RedfishManagement().set_boot_mode(on(bmc), "uefi")
    assert bmc.count("PATCH", SYSTEM) == 1


@pytest.mark.parametrize("state", [{"Boot": {}}, {"Boot": {"BootSourceOverrideMode": None}}])
def test_a_bmc_that_does_not_report_the_boot_mode_is_believed(bmc: HostileBmc, state: dict[str, Any]) -> None:
    bmc.documents[SYSTEM] |= state
    RedfishManagement().set_boot_mode(on(bmc), "uefi")
    assert bmc.count("PATCH", SYSTEM) == 1


@pytest.mark.parametrize("odd", [5, {}, "on", [True]])
def test_secure_boot_of_which_the_bmc_shows_no_state_is_not_changed(bmc: HostileBmc, odd: Any) -> None:
    bmc.documents[SYSTEM]["SecureBoot"] = link(f"{SYSTEM}/SecureBoot")
    bmc.documents[f"{SYSTEM}/SecureBoot"] = {"Id": "SecureBoot", "SecureBootEnable": odd}
    with pytest.raises(RedfishError, match="SecureBootEnable has a value of another type"):
        RedfishManagement().set_secure_boot_state(on(bmc), True)
    assert not any(method == "PATCH" for method, _ in bmc.requests)


@pytest.mark.parametrize(
    "target", ["N/A", "", "Actions/Reset", "ftp://192.0.2.1/", "/a b", "/a\u0000b", "/\ud800", None, 5]
)
def test_no_order_goes_to_a_target_that_is_no_place(bmc: HostileBmc, target: Any) -> None:
    bmc.documents[SYSTEM]["Actions"] = {"#ComputerSystem.Reset": {"target": target}}
    with pytest.raises(IronicError, match="ComputerSystem.Reset is missing"):
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert {method for method, _ in bmc.requests} == {"GET"}


BIOS = f"{SYSTEM}/Bios"


def bios_settings(bmc: HostileBmc, pending: Any, **current: Any) -> Work:
    bmc.documents[SYSTEM] |= {"Bios": link(BIOS), "PowerState": "On"}
    bmc.documents[BIOS] = {
        "Id": "Bios", "Attributes": current, "@Redfish.Settings": {"SettingsObject": link(f"{BIOS}/Settings")},
    }  # fmt: skip
    bmc.documents[f"{BIOS}/Settings"] = pending
    task = on(bmc, provision_state=states.CLEANING)
    task.driver = BareDriver({"power": RedfishPower()})
    return task


@pytest.mark.parametrize("odd", [None, {"Id": "Settings", "Attributes": 5}, {"Id": "Settings", "Attributes": None}])
def test_settings_that_may_change_at_the_next_start_are_not_done(bmc: HostileBmc, odd: Any) -> None:
    turbo = [{"name": "Turbo", "value": "On"}]
    with pytest.raises(RedfishError, match="which ones wait for a restart can't be read"):
        RedfishBIOS().apply_configuration(bios_settings(bmc, odd, Turbo="On"), turbo)
    assert {method for method, _ in bmc.requests} == {"GET"}
    # Others than the present ones are ordered anyway; without any that wait the present ones are done.
    assert RedfishBIOS().apply_configuration(bios_settings(bmc, odd, Turbo="Off"), turbo) == states.CLEANWAIT
    bmc.requests.clear()
    assert RedfishBIOS().apply_configuration(bios_settings(bmc, {"Attributes": {}}, Turbo="On"), turbo) is None
    assert {method for method, _ in bmc.requests} == {"GET"}


@pytest.mark.parametrize("state, is_good", [("Completed", True), ("Exception", False), ("Cancelled", False)])
def test_keys_are_reset_when_the_task_of_that_has_gone_well(bmc: HostileBmc, state: str, is_good: bool) -> None:
    keys, monitor = f"{SYSTEM}/SecureBoot/Actions/Reset", "/redfish/v1/Tasks/7"
    bmc.documents[SYSTEM]["SecureBoot"] = link(f"{SYSTEM}/SecureBoot")
    bmc.documents[f"{SYSTEM}/SecureBoot"] = {
        "Id": "SecureBoot", "SecureBootEnable": False, "Actions": {"#SecureBoot.ResetKeys": {"target": keys}},
    }  # fmt: skip
    bmc.documents[monitor] = {"@odata.id": monitor, "TaskState": state, "TaskStatus": "OK"}

    def misbehave(handler: Handler) -> bool:
        is_order = handler.path == keys
        if is_order:
            handler.answer(202, None, {"Location": monitor})
        return is_order

    bmc.misbehave = misbehave
    if is_good:
        RedfishManagement().clear_secure_boot_keys(on(bmc))
    else:
        with pytest.raises(RedfishError, match=state):
            RedfishManagement().clear_secure_boot_keys(on(bmc))
    assert bmc.count("POST", keys) == 1


MODULES = f"{SYSTEM}/Memory"


@pytest.mark.parametrize(
    "odd, size",
    [
        ({"MemoryType": "N/A"}, None), ({"MemoryType": 5}, None), ({"MemoryType": "DDR4"}, None),
        ({"CapacityMiB": 0, "Status": {"State": "Enabled"}}, None),
        ({"CapacityMiB": None, "Status": {"State": None}}, None),
        ({"MemoryType": "dram"}, 65536), ({"MemoryType": "NVDIMM_N"}, 32768), ({"CapacityMiB": 0}, 32768),
        ({"CapacityMiB": None, "Status": {"State": "Absent"}}, 32768),
    ],
)  # fmt: skip
def test_a_part_of_the_memory_is_no_size(bmc: HostileBmc, odd: dict[str, Any], size: int | None) -> None:
    bmc.documents[SYSTEM]["Memory"] = link(MODULES)
    bmc.documents[MODULES] = {"Members": [link(f"{MODULES}/{number}") for number in range(2)]}
    for number, more in enumerate(({}, odd)):
        module = {"Id": str(number), "MemoryType": "DRAM", "CapacityMiB": 32768, **more}
        bmc.documents[f"{MODULES}/{number}"] = module
    assert read(on(bmc), "reading", memory_of).get("physical_mb") == size


UPDATES = "/redfish/v1/UpdateService"
DISK = {"raid_level": "0", "size_gb": 1}
NEEDS_RESTART: dict[str, Callable[[Work], object]] = {
    "BIOS": lambda task: RedfishBIOS().apply_configuration(task, [{"name": "A", "value": "x"}]),
    "BIOS reset": lambda task: RedfishBIOS().factory_reset(task),
    "secure boot": lambda task: RedfishManagement().set_secure_boot_state(task, True),
    "boot mode": lambda task: RedfishManagement().set_boot_mode(task, "bios"),
    "firmware": lambda task: RedfishFirmware().update(task, [{"component": "bios", "url": "http://192.0.2.7/x.bin"}]),
    "RAID": lambda task: RedfishRAID().create_configuration(task),
    "RAID deletion": lambda task: RedfishRAID().delete_configuration(task),
}


@pytest.fixture
def restarted(bmc: HostileBmc) -> HostileBmc:
    """Run a BMC whose settings, firmware and volumes change with a restart."""
    storage, bios = f"{SYSTEM}/Storage/A", f"{SYSTEM}/Bios"
    volumes, drives = f"{storage}/Volumes", [f"{storage}/Drives/{number}" for number in range(2)]
    bmc.documents[SYSTEM] |= {
        "Bios": link(bios), "SecureBoot": link(f"{SYSTEM}/SecureBoot"), "Storage": link(f"{SYSTEM}/Storage"),
        "Boot": {"BootSourceOverrideMode": "UEFI"},
    }  # fmt: skip
    bmc.documents["/redfish/v1"]["UpdateService"] = link(UPDATES)
    bmc.documents |= {
        bios: {
            "Id": "Bios", "Attributes": {"A": "y"}, "@Redfish.Settings": {"SettingsObject": link(f"{bios}/Settings")},
            "Actions": {"#Bios.ResetBios": {"target": f"{bios}/Reset"}},
        },
        f"{bios}/Settings": {"Id": "Settings", "Attributes": {}},
        f"{SYSTEM}/SecureBoot": {"Id": "SecureBoot", "SecureBootEnable": False},
        UPDATES: {"Id": "U", "Actions": {"#UpdateService.SimpleUpdate": {"target": f"{UPDATES}/Update"}}},
        f"{SYSTEM}/Storage": {"Members": [link(storage)]},
        storage: {"Id": "A", "Volumes": link(volumes), "Drives": [link(path) for path in drives]},
        volumes: {
            "Members": [link(f"{volumes}/1")],
            "@Redfish.OperationApplyTimeSupport": {"SupportedValues": ["OnReset"]},
        },
        f"{volumes}/1": {"Id": "1", "RAIDType": "RAID0", "Links": {"Drives": [link(drives[0])]}},
        **{path: {"Id": path[-1], "CapacityBytes": 2**40, "MediaType": "SSD", "Protocol": "SATA"} for path in drives},
    }  # fmt: skip
    return bmc


@pytest.mark.parametrize("odd", ["Weird", None, 5])
@pytest.mark.parametrize("name", NEEDS_RESTART)
def test_nothing_is_ordered_that_needs_a_restart_which_would_be_refused(
    restarted: HostileBmc, name: str, odd: Any
) -> None:
    restarted.documents[SYSTEM]["PowerState"] = odd
    target = {"logical_disks": [DISK]}
    task = on(restarted, provision_state=states.CLEANING, target_raid_config=target)
    task.driver = BareDriver({"power": RedfishPower()})
    with pytest.raises(RedfishError, match="no power state that is known.*nothing was ordered"):
        NEEDS_RESTART[name](task)
    assert [method for method, path in restarted.requests if method != "GET" and "/Sessions" not in path] == []
    assert (task.node.driver_internal_info, task.node.pending_waits) == ({}, {})


def test_a_setting_that_is_there_needs_no_restart(restarted: HostileBmc) -> None:
    restarted.documents[SYSTEM]["PowerState"] = "Weird"
    task = on(restarted, provision_state=states.CLEANING)
    task.driver = BareDriver({"power": RedfishPower()})
    assert RedfishBIOS().apply_configuration(task, [{"name": "A", "value": "y"}]) is None
    RedfishManagement().set_secure_boot_state(task, False)
    with waits.waiting(task, Waiter.NO_ONE):
        RedfishManagement().set_boot_mode(task, "bios")
    assert [path for method, path in restarted.requests if method == "POST" and "Reset" in path] == []

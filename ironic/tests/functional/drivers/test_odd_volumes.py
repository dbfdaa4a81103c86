"""Logical disks of odd BMCs: a drive that is in use is never taken, however the BMC says that it is."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.raid import RedfishRAID
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.drivers.test_answers_to_orders import DISK, VOLUMES, machine_for_orders
from ironic.tests.functional.drivers.test_odd_machines import on
from ironic.tests.unit.drivers.machine import Work

STORAGE = f"{SYSTEM}/Storage/A"
VOLUME = f"{VOLUMES}/1"
DRIVES = [f"{STORAGE}/Drives/{number}" for number in range(2)]


Orders = list[tuple[str, str, Any]]


@pytest.fixture
def orders() -> Orders:
    """Return the orders that come, each with its method, path and body."""
    return []


@pytest.fixture
def bmc(orders: Orders) -> Iterator[HostileBmc]:
    """Run a BMC with two drives, one of them in a volume; it carries all orders out."""

    def misbehave(handler: Handler) -> bool:
        is_order = handler.command in ("POST", "DELETE")
        if is_order:
            orders.append((handler.command, handler.path, json.loads(handler.content or b"null")))
            if handler.command == "DELETE" and not running.documents[VOLUME].get("stays"):
                volumes = running.documents[VOLUMES]
                volumes["Members"] = [one for one in volumes["Members"] if one["@odata.id"] != handler.path]
            elif handler.command == "POST" and not running.documents[STORAGE].get("forgets"):
                path = f"{VOLUMES}/{len(orders) + 1}"
                running.documents[path] = {"Id": path[-1], "CapacityBytes": 2**30, **orders[-1][2]}
                running.documents[VOLUMES]["Members"].append({"@odata.id": path})
                count = running.documents[VOLUMES].get("Members@odata.count")
                running.documents[VOLUMES] |= {} if count is None else {"Members@odata.count": count + 1}
            handler.send(204, b"")
        return is_order

    with hostile_bmc() as running:
        running.documents, running.misbehave = machine_for_orders(), misbehave
        running.documents[VOLUME]["CapacityBytes"] = 2**30
        yield running


def raid(bmc: HostileBmc, **disk: Any) -> Work:
    configuration = {"logical_disks": [{**DISK, **disk}]}
    task = on(bmc, provision_state=states.CLEANING, target_raid_config=configuration)
    task.driver = BareDriver({"power": RedfishPower()})
    return task


def taken(bmc: HostileBmc, orders: Orders, **disk: Any) -> list[str]:
    """Return the drives of the volume that is ordered."""
    RedfishRAID().create_configuration(raid(bmc, **disk))
    ((method, path, body),) = orders
    assert (method, path) == ("POST", VOLUMES)
    return [link["@odata.id"] for link in body["Links"]["Drives"]]


def links(*paths: str) -> dict[str, Any]:
    return {"Drives": [{"@odata.id": path} for path in paths]}


@pytest.mark.difference("paths in two spellings")
@pytest.mark.parametrize(
    "volume",
    [
        {},
        {"Links": links(f"{DRIVES[0]}/")},
        {"Links": links(DRIVES[0].replace("/A/", "/a/"))},
        {"Links": links(f"{DRIVES[0]}#")},
        {"Links": {"Drives": {"@odata.id": DRIVES[0]}, "Drives@odata.count": 1}},
        {"RAIDType": "own"},
        {"RAIDType": None, "VolumeType": "Mirrored"},
        {"RAIDType": None, "VolumeType": "NonRedundant"},
        {"RAIDType": None, "Links": links(DRIVES[0], "/gone")},
    ],
)
def test_a_drive_of_a_volume_is_not_taken(bmc: HostileBmc, orders: Orders, volume: dict[str, Any]) -> None:
    bmc.documents[VOLUME] |= volume
    assert taken(bmc, orders) == DRIVES[1:]


def test_a_drive_may_name_its_volume(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[VOLUME]["Links"] = None
    bmc.documents[DRIVES[0]]["Links"] = {"Volumes": [{"@odata.id": f"{VOLUME}/"}]}
    assert taken(bmc, orders) == DRIVES[1:]


def test_a_drive_of_a_volume_that_the_list_does_not_have_is_not_taken(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[VOLUMES] |= {"Members": [], "Members@odata.count": 0}
    bmc.documents[DRIVES[0]]["Links"] = {"Volumes": [{"@odata.id": VOLUME}]}
    assert taken(bmc, orders) == DRIVES[1:]


@pytest.mark.parametrize("odd", [{"Volumes": None}, {"Volumes": "x"}, {"Volumes": [5]}, {"Volumes": [{}]}, None, "x"])
def test_a_drive_that_cannot_say_its_volumes_is_not_taken(bmc: HostileBmc, orders: Orders, odd: Any) -> None:
    bmc.documents[VOLUMES] |= {"Members": [], "Members@odata.count": 0}
    bmc.documents[DRIVES[0]]["Links"] = odd
    assert taken(bmc, orders) == DRIVES[1:]
    orders.clear()
    bmc.documents[DRIVES[1]]["Links"] = odd
    with pytest.raises(InvalidParameterValue, match=f"does not fit.* left out.* at {DRIVES[0]}; .* at {DRIVES[1]}"):
        RedfishRAID().create_configuration(raid(bmc))
    assert orders == []


def test_a_volume_without_redundancy_is_deleted_like_any_other(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[VOLUME] |= {"RAIDType": None, "VolumeType": "NonRedundant"}
    RedfishRAID().delete_configuration(raid(bmc))
    assert orders == [("DELETE", VOLUME, None)]


def test_a_raw_device_of_several_drives_is_not_passed_over(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[VOLUME] |= {"RAIDType": None, "VolumeType": "RawDevice", "Links": links(*DRIVES)}
    with pytest.raises(RedfishError, match=f"{VOLUME} is incomplete, as it has several drives"):
        RedfishRAID().delete_configuration(raid(bmc))
    assert orders == []


@pytest.mark.parametrize("odd", [None, [], "dead"])
def test_no_order_goes_to_a_storage_whose_name_another_may_have(bmc: HostileBmc, orders: Orders, odd: Any) -> None:
    other = f"{SYSTEM}/Storage/B"
    bmc.documents[f"{SYSTEM}/Storage"]["Members"].append({"@odata.id": other})
    bmc.documents[f"{SYSTEM}/Storage"].pop("Members@odata.count", None)
    bmc.documents[other] = odd
    bmc.documents[STORAGE]["Id"] = "RAID"
    for name in ("RAID", "A", "B"):
        with pytest.raises(RedfishError, match=f"which storage {name} is is not known: {other} can't be read"):
            taken(bmc, orders, controller=name)
    assert orders == []
    # It has its name whatever the id of the other is.
    bmc.documents[STORAGE]["Id"] = "A"
    assert taken(bmc, orders, controller="A") == DRIVES[1:]


@pytest.mark.parametrize(
    "odd", [None, {}, {"Drives": None}, {"Drives": "x"}, {"Drives": [5]}, {"Drives": {"@odata.id": DRIVES[0]}}]
)
def test_no_drive_is_free_where_a_volume_does_not_show_its_own(bmc: HostileBmc, orders: Orders, odd: Any) -> None:
    bmc.documents[VOLUME]["Links"] = odd
    with pytest.raises(RedfishError, match=f"{VOLUME} is incomplete, as "):
        taken(bmc, orders)
    assert orders == []
    # Deleting all of them needs no drives.
    RedfishRAID().delete_configuration(raid(bmc))
    assert orders == [("DELETE", VOLUME, None)]


@pytest.mark.parametrize("members", [None, "x", 5, [None], [5], [{}], [{"@odata.id": None}], [{"@odata.id": "/gone"}]])
@pytest.mark.parametrize("count", [{}, {"Members@odata.count": 1}])
def test_volumes_of_which_a_list_says_nothing_are_neither_none_nor_deleted(
    bmc: HostileBmc, orders: Orders, members: Any, count: dict[str, int]
) -> None:
    bmc.documents[VOLUMES] = {"Name": "Volumes", "Members": members, **count}
    task = raid(bmc)
    task.node.raid_config = before = {"logical_disks": [{"id": "1"}]}
    with pytest.raises(RedfishError, match="incomplete"):
        taken(bmc, orders)
    with pytest.raises(RedfishError, match="incomplete"):
        RedfishRAID().delete_configuration(task)
    assert orders == []
    assert task.node.raid_config == before


@pytest.mark.parametrize("path, name", [(SYSTEM, "Storage"), (STORAGE, "Volumes")])
def test_volumes_that_the_bmc_has_no_place_for_are_not_deleted(
    bmc: HostileBmc, orders: Orders, path: str, name: str
) -> None:
    del bmc.documents[path][name]
    bmc.documents[STORAGE]["StorageControllers"] = [{"MemberId": "0", "SupportedRAIDTypes": ["RAID0"]}]
    with pytest.raises(RedfishError, match=f"{path} is incomplete, as .* {name}, so it may have"):
        RedfishRAID().delete_configuration(raid(bmc))
    assert orders == []


def test_a_volume_of_an_odd_level_stops_an_order_before_it_is_sent(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[VOLUME]["RAIDType"] = ["RAID0"]
    with pytest.raises(RedfishError, match=f"{VOLUME} is incomplete, as RAIDType has a value of another type"):
        taken(bmc, orders)
    assert orders == []


@pytest.mark.parametrize("volume", [{"RAIDType": {}}, {"RAIDType": None, "VolumeType": None}, {"RAIDType": None}])
def test_a_drive_of_a_volume_of_unknown_kind_is_not_free(bmc: HostileBmc, orders: Orders, volume: Any) -> None:
    bmc.documents[VOLUME] |= volume
    bmc.documents[DRIVES[1]]["Status"] = {"State": "Absent"}
    with pytest.raises((RedfishError, InvalidParameterValue)):
        taken(bmc, orders)
    assert orders == []


def test_disks_of_which_a_controller_cannot_say_are_not_recorded(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[f"{SYSTEM}/Storage"]["Members"].append({"@odata.id": f"{SYSTEM}/Storage/gone"})
    task = raid(bmc, controller="A")
    task.node.raid_config = before = {"logical_disks": [{"id": "1"}]}
    RedfishRAID().create_configuration(task)
    assert len(orders) == 1
    assert task.node.raid_config == before


@pytest.mark.difference("drives as volumes")
@pytest.mark.parametrize("kind", ["RawDevice", "rawdevice"])
def test_a_drive_that_is_shown_as_a_volume_is_free(bmc: HostileBmc, orders: Orders, kind: Any) -> None:
    bmc.documents[VOLUME] |= {"RAIDType": None, "VolumeType": kind}
    bmc.documents[DRIVES[1]]["Status"] = {"State": "Absent"}
    assert taken(bmc, orders) == DRIVES[:1]


@pytest.mark.parametrize("odd", [{"CapacityBytes": "1 TB"}, {"CapacityBytes": -5}, {"Status": {"State": "Absent"}}])
def test_a_drive_that_is_not_there_or_has_no_size_is_not_taken(
    bmc: HostileBmc, orders: Orders, odd: dict[str, Any]
) -> None:
    bmc.documents[VOLUMES]["Members"] = []
    bmc.documents[DRIVES[0]] |= odd
    assert taken(bmc, orders) == DRIVES[1:]


@pytest.mark.difference("words in another case")
def test_kinds_of_drives_are_read_in_any_case(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[DRIVES[1]] |= {"MediaType": "ssd", "Protocol": "sas"}
    assert taken(bmc, orders, disk_type="ssd", interface_type="sas") == DRIVES[1:]


@pytest.mark.parametrize("odd", ["RAID5", ["own"], None, [5, "RAID0"]])
def test_a_controller_with_odd_levels_makes_volumes(bmc: HostileBmc, orders: Orders, odd: Any) -> None:
    bmc.documents[STORAGE]["StorageControllers"] = [{"SupportedRAIDTypes": odd}, None, 5]
    assert taken(bmc, orders) == DRIVES[1:]


@pytest.mark.parametrize("odd", [None, 5, {"@odata.id": "/gone"}])
def test_a_storage_that_cannot_say_its_volumes_stops_what_may_go_there_and_nothing_else(
    bmc: HostileBmc, orders: Orders, odd: Any
) -> None:
    other = f"{SYSTEM}/Storage/0"
    bmc.documents[f"{SYSTEM}/Storage"]["Members"].insert(0, {"@odata.id": other})
    bmc.documents[other] = {"Id": "0", "Name": "Other", "Volumes": odd, "Drives": [{"@odata.id": f"{other}/Drives/7"}]}
    bmc.documents[f"{other}/Drives/7"] = {"Id": "7", "Name": "Other", "CapacityBytes": 2**34}
    with pytest.raises(RedfishError, match="Volumes"):
        taken(bmc, orders)
    assert orders == []
    assert taken(bmc, orders, controller="A") == DRIVES[1:]
    orders.clear()
    bmc.documents[VOLUMES]["Members"].pop()
    del bmc.documents[other]["Volumes"]
    assert taken(bmc, orders) == DRIVES[1:]


@pytest.mark.difference("volumes of older schemas")
@pytest.mark.parametrize("kind, level", [("Mirrored", "1"), ("stripedwithparity", "5"), ("SpannedMirrors", "1+0")])
def test_a_volume_of_an_older_schema_is_a_logical_disk(bmc: HostileBmc, orders: Orders, kind: str, level: str) -> None:
    del bmc.documents[VOLUME]["RAIDType"]
    bmc.documents[VOLUME]["VolumeType"] = kind
    task = raid(bmc)
    RedfishRAID().create_configuration(task)
    assert [disk["raid_level"] for disk in task.node.raid_config["logical_disks"]] == [level, DISK["raid_level"]]
    RedfishRAID().delete_configuration(task)
    assert orders[1:] == [("DELETE", VOLUME, None), ("DELETE", f"{VOLUMES}/2", None)]
    assert task.node.raid_config["logical_disks"] == []


@pytest.mark.parametrize("kind", ["N/A", "Own", "a\u0000b", "\ud800", "\r\n", None, ""])
def test_a_volume_of_a_kind_that_is_not_known_is_neither_kept_nor_forgotten(
    bmc: HostileBmc, orders: Orders, kind: Any
) -> None:
    bmc.documents[VOLUME] |= {"RAIDType": None, "VolumeType": kind}
    for act in (
        lambda: RedfishRAID().delete_configuration(raid(bmc)),
        lambda: RedfishRAID().create_configuration(raid(bmc), delete_existing=True),
    ):
        with pytest.raises(RedfishError, match="no kind of volume that is known|may be a logical disk"):
            act()
    assert orders == []


def test_a_deletion_that_is_accepted_and_not_carried_out_is_no_success(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[VOLUME]["stays"] = True
    task = raid(bmc)
    with pytest.raises(RedfishError, match=f"still shows {VOLUME}"):
        RedfishRAID().delete_configuration(task)
    assert task.node.raid_config == {}


def test_a_creation_that_is_accepted_and_not_carried_out_is_no_success(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[STORAGE]["forgets"] = True
    task = raid(bmc)
    with pytest.raises(RedfishError, match="accepted 1 new logical disks and shows 0"):
        RedfishRAID().create_configuration(task)
    assert len(orders) == 1
    assert task.node.raid_config == {}


def test_a_deletion_before_a_creation_that_is_not_carried_out_is_no_success(bmc: HostileBmc, orders: Orders) -> None:
    bmc.documents[VOLUME]["stays"] = True
    task = raid(bmc)
    with pytest.raises(RedfishError, match=f"should be new after all others are deleted, and the BMC shows {VOLUME}, "):
        RedfishRAID().create_configuration(task, delete_existing=True)
    assert [method for method, *_ in orders] == ["DELETE", "POST"]


def test_storages_of_one_id_are_told_apart(bmc: HostileBmc, orders: Orders) -> None:
    other = f"{SYSTEM}/Storage/B"
    bmc.documents[f"{SYSTEM}/Storage"]["Members"].append({"@odata.id": other})
    bmc.documents[other] = {"Id": "RAID", "Name": "Other", "Volumes": {"@odata.id": f"{other}/Volumes"}, "Drives": []}
    bmc.documents[f"{other}/Volumes"] = {"Name": "None", "Members": []}
    bmc.documents[STORAGE] |= {"Id": "RAID", "Name": "First"}
    assert taken(bmc, orders) == DRIVES[1:]
    orders.clear()
    bmc.documents[VOLUMES]["Members"].pop()
    task = raid(bmc)
    RedfishRAID().delete_configuration(task)
    assert orders == [("DELETE", VOLUME, None)]
    assert task.node.raid_config["logical_disks"] == []

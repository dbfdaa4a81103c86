"""Choosing drives for logical disks."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.redfish.orders.raid_layout import GIB, plan
from ironic.drivers.modules.redfish.tree.storages import Drive


def drives(
    count: int, gib: int = 100, controller: str = "C", kind: str = "HDD", first: int = 0, **more: Any
) -> list[Drive]:
    return [
        Drive(f"/{controller}/{number}", f"{controller}-{number}", controller, gib * GIB, kind, "SAS", **more)
        for number in range(first, first + count)
    ]


def disk(level: str, size: int | str, **more: Any) -> dict[str, Any]:
    return {"raid_level": level, "size_gb": size, **more}


@pytest.mark.parametrize(
    "level, size, raid_type, used",
    [
        ("0", 50, "RAID0", 1),
        ("0", 150, "RAID0", 2),
        ("1", 50, "RAID1", 2),
        ("5", 150, "RAID5", 3),
        ("5", 300, "RAID5", 4),
        ("6", 200, "RAID6", 4),
        ("6", 250, "RAID6", 5),
        ("1+0", 150, "RAID10", 4),
        ("1+0", 250, "RAID10", 6),
        ("5+0", 300, "RAID50", 6),
        ("6+0", 300, "RAID60", 8),
    ],
)
def test_a_logical_disk_has_as_few_drives_as_hold_it(level: str, size: int, raid_type: str, used: int) -> None:
    (volume,) = plan([disk(level, size)], drives(8))
    assert (volume.raid_type, len(volume.drives), volume.size) == (raid_type, used, size * GIB)


def test_drives_of_one_logical_disk_are_alike_and_on_one_controller() -> None:
    mixed = [*drives(1, 100), *drives(1, 200, first=1), *drives(1, 100, "D"), *drives(2, 100, "E", "SSD")]
    (volume,) = plan([disk("1", 50)], mixed)
    assert set(volume.drives) == {"/E/0", "/E/1"}


@pytest.mark.parametrize(
    "wish, controller",
    [
        ({"disk_type": "ssd"}, "S"),
        ({"disk_type": "hdd"}, "H"),
        ({"controller": "S"}, "S"),
        ({"interface_type": "sas"}, "H"),
    ],
)
def test_wishes_for_drives_are_met(wish: dict[str, Any], controller: str) -> None:
    (volume,) = plan([disk("1", 50, **wish)], [*drives(2, controller="H"), *drives(2, controller="S", kind="SSD")])
    assert volume.controller == controller


def test_the_number_of_drives_can_be_given() -> None:
    (volume,) = plan([disk("5", 50, number_of_physical_disks=5)], drives(8))
    assert len(volume.drives) == 5


def test_given_drives_are_taken_and_the_rest_of_them_too() -> None:
    named = ["C-2", "C-3"]
    small, rest, other = plan(
        [
            disk("1", 40, physical_disks=named, share_physical_disks=True),
            disk("1", "MAX", physical_disks=named, share_physical_disks=True, volume_name="rest"),
            disk("1", 100),
        ],
        drives(4),
    )
    assert set(small.drives) == set(rest.drives) == {"/C/2", "/C/3"}
    assert (rest.size, rest.name) == (None, "rest")
    assert set(other.drives) == {"/C/0", "/C/1"}


@pytest.mark.parametrize("count, taken", [(4, {"/C/2", "/C/3"}), (2, {"/C/0", "/C/1"})])
def test_drives_of_which_another_takes_the_rest_come_last(count: int, taken: set[str]) -> None:
    rest = disk("1", "MAX", physical_disks=["C-0", "C-1"], share_physical_disks=True)
    found, _ = plan([disk("1", 40, share_physical_disks=True), rest], drives(count))
    assert set(found.drives) == taken


def test_drives_are_not_shared_unless_that_is_wanted() -> None:
    one, two = plan([disk("1", 10), disk("1", 10)], drives(4))
    assert not set(one.drives) & set(two.drives)
    with pytest.raises(InvalidParameterValue, match="does not fit"):
        plan([disk("1", 10), disk("1", 10), disk("1", 10)], drives(4))
    wish = {"share_physical_disks": True}
    assert len(plan([disk("1", 10, **wish)] * 3, drives(2))) == 3


def test_another_choice_is_tried_when_the_first_leaves_no_room() -> None:
    # The two large drives fit both; only the second logical disk needs them.
    both = [*drives(2, 500), *drives(2, 100, first=2)]
    small, large = plan([disk("1", 50), disk("1", 400)], both)
    assert set(small.drives) == {"/C/2", "/C/3"}
    assert set(large.drives) == {"/C/0", "/C/1"}


def test_drives_of_volumes_that_stay_are_not_taken() -> None:
    (volume,) = plan([disk("1", 50)], [*drives(2, used=True), *drives(2, first=2)])
    assert set(volume.drives) == {"/C/2", "/C/3"}


@pytest.mark.parametrize(
    "wanted, why",
    [
        ([disk("JBOD", 5)], "JBOD can't be created"),
        ([disk("2", 5)], "level 2"),
        ([disk("1", "MAX")], "needs physical_disks"),
        ([disk("1", 101)], "does not fit"),
        ([disk("5", 10, number_of_physical_disks=2)], "does not fit"),
        ([disk("1+0", 10, number_of_physical_disks=5)], "does not fit"),
        ([disk("1", 10, physical_disks=["C-0", "nowhere"])], "does not fit"),
        ([disk("1", 10, physical_disks=["C-0"])], "does not fit"),
    ],
)
def test_what_can_not_be_made_is_refused(wanted: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(InvalidParameterValue, match=why):
        plan(wanted, drives(8))


def test_a_request_that_never_fits_ends() -> None:
    with pytest.raises(InvalidParameterValue, match="does not fit"):
        plan([disk("0", 1) for _ in range(40)], drives(39))

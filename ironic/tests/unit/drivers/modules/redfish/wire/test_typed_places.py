"""What a document says that it is, and where its properties stand."""

from typing import Any

import pytest

from ironic.drivers.modules.redfish.wire.typed_places import ANYWHERE, place_of, type_of


@pytest.mark.parametrize(
    "said, found",
    [
        ("#NetworkAdapter.v1_5_0.NetworkAdapter", "networkadapter"), ("#Chassis.1.0.0.Chassis", "chassis"),
        ("NETWORKADAPTER", "networkadapter"), ("# Drive.v1_0_0.Drive ", "drive"), ("##Storage.v1.Storage", "storage"),
        # Either part may be wrong.
        ("#Chassis.1.0.0", "chassis"), ("#Chasis.v1_0_0.Chassis", "chassis"), ("#Bios.v1_0_0.Settings", "bios"),
        ("#EventService.v1_0_0.EventDestination", "eventdestination"),
        ("#DriveCollection.DriveCollection", None), ("#AcmeDrive.v1_0_0.AcmeDrive", None), ("#", None), ("", None),
        (None, None), (5, None), (["#Drive.v1_0_0.Drive"], None), ({}, None),
    ],
)  # fmt: skip
def test_a_document_says_what_it_is(said: Any, found: str | None) -> None:
    assert type_of({"@odata.type": said}) == found


def place(**document: object) -> object:
    found = {name.replace("_", "."): value for name, value in document.items()}
    return place_of(found, type_of(found))


ADAPTER = place_of({}, "networkadapter")


def test_one_that_does_not_say_it_is_known_by_what_only_one_resource_has() -> None:
    assert place(Controllers={}, NetworkPorts={}) is ADAPTER
    assert place(**{"@odata_type": None, "NetworkPorts": {}}) is ADAPTER
    assert place(RegistryEntries=5, **{"@odata_type": "#Drive.v1_0_0.Drive"}) is place_of({}, "attributeregistry")
    # Many have these, and these are of two.
    assert place() is place(Id="1", Model="x", Links={}) is place(NetworkPorts={}, BiosVersion="1") is ANYWHERE
    assert place(Controllers={}) is ANYWHERE
    # What says that it is something else is none of them.
    assert place(NetworkPorts={}, **{"@odata_type": "#NetworkInterface2.v1_0_0.Acme"}) is ANYWHERE


def test_an_object_has_the_place_that_its_resource_gives_it() -> None:
    assert "FirmwarePackageVersion" in ADAPTER.inside["Controllers"].types
    assert "Controllers" not in ANYWHERE.inside and ADAPTER.others is ANYWHERE.others is None
    actions = ADAPTER.inside["Actions"]
    assert actions is ANYWHERE.inside["Actions"] and actions.others is not None
    assert "NetDevFuncType" not in ANYWHERE.types and "MaxSpeedMHz" in ADAPTER.types

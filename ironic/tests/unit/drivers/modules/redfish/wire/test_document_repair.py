"""Documents as the library expects them, and JSON as BMCs write it."""

from typing import Any

import pytest

from ironic.core.texts import lenient_json
from ironic.drivers.modules.redfish.wire.document_faults import fault_at
from ironic.drivers.modules.redfish.wire.document_repair import repaired

Document = dict[str, Any]

NOTES = "@ironic.faults"
PATH = "/redfish/v1/Systems/1"
# What a document gets that does not say what it is.
STAND_INS = {"Id", "Name", "ChassisType", "Actions"}


def of(document: Document, path: str = PATH) -> Document:
    """Return what becomes of a document, without what it gets, and without notes of what is left out."""
    found = repaired({"Id": "1", "Name": "n", **document}, path)
    others = STAND_INS - document.keys() | {NOTES}
    return {name: without_notes(value) for name, value in found.items() if name not in others}


def without_notes(value: Any) -> Any:
    return {name: one for name, one in value.items() if name != NOTES} if isinstance(value, dict) else value


@pytest.mark.difference("values of other types")
@pytest.mark.parametrize(
    "value, number",
    [("16", 16), (" 25 ", 25), (7, 7), ("", None), ("N/A", None), ("500 GB", None), (True, None), ([1], None),
     (2**64, None), (float("inf"), None), ({}, None)],
)  # fmt: skip
def test_a_number_is_one_or_left_out(value: Any, number: float | None) -> None:
    assert of({"MaxSpeedMHz": value}) == ({} if number is None else {"MaxSpeedMHz": number})


@pytest.mark.parametrize("value, flag", [(True, True), ("true", True), (" False", False), ("maybe", None), (1, None)])
def test_a_flag_is_one_or_left_out(value: Any, flag: bool | None) -> None:
    assert of({"Inserted": value}) == ({} if flag is None else {"Inserted": flag})


@pytest.mark.difference("words in another case")
@pytest.mark.parametrize(
    "name, value, word",
    [
        ("PowerState", "ON", "On"), ("PowerState", " poweringoff ", "PoweringOff"), ("PowerState", "Own", "Own"),
        ("PowerState", None, None), ("Health", "Ok", "OK"), ("TaskState", "completed", "Completed"),
        ("BootSourceOverrideTarget", "PXE", "Pxe"), ("MediaTypes", ["cd", "Dvd", "Own"], ["CD", "DVD", "Own"]),
        ("MediaTypes", "cd", ["CD"]), ("InstructionSet", "X86-64", "x86-64"), ("RAIDType", "raid10", "RAID10"),
    ],
)  # fmt: skip
def test_a_word_of_the_schema_is_read_in_any_case(name: str, value: Any, word: Any) -> None:
    assert of({name: value}) == {name: word}


def test_what_a_bmc_allows_is_read_in_any_case_where_the_words_are_those_of_the_standard() -> None:
    document = {
        "ResetType@Redfish.AllowableValues": ["on", "FORCEOFF", "Own", 5],
        "BootSourceOverrideTarget@Redfish.AllowableValues": "PXE",
        "TransferProtocolType@Redfish.AllowableValues": ["https", "nfs"],
    }
    assert of(document) == {
        "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "Own"],
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe"],
        "TransferProtocolType@Redfish.AllowableValues": ["https", "nfs"],
    }


@pytest.mark.parametrize(
    "settings", [None, {}, "x", {"SettingsObject": None}, {"SettingsObject": {"@odata.id": "http://192.0.2.7/x"}}]
)
def test_settings_that_lead_nowhere_are_none(settings: Any) -> None:
    assert of({"@Redfish.Settings": settings}) == {}


def test_null_stays_where_it_is_a_value() -> None:
    document = {"Image": None, "CapacityBytes": None, "Inserted": None}
    assert of(document) == document


@pytest.mark.parametrize(
    "name, value, fault",
    [
        ("Members", None, "is null"), ("Members", "x", "has a value of another type"),
        ("Members", 5, "has a value of another type"), ("Members", [None], "has entries that can't be read"),
        ("Members", [{"@odata.id": "/a"}, 5], "has entries that can't be read"), ("Members", [], None),
        ("Members", {"@odata.id": "/a"}, "is one object where a list should be"),
        ("Volumes", None, "is null"), ("Volumes", [], "has a value of another"),
        ("Inserted", "yes", "has a value of another type"), ("Inserted", 1, "has a value of another type"),
        ("Inserted", "true", None), ("Inserted", None, None), ("Image", {}, "has a value of another type"),
        ("Image", None, None), ("Links", None, "is null"), ("BootOrder", None, "is null"),
        ("BootOrder", [5, "a"], "has entries"),
        ("CapacityBytes", "1 TB", "has a value of another type"), ("Own", [None], None),
    ],
)  # fmt: skip
def test_what_is_left_out_is_noted(name: str, value: Any, fault: str | None) -> None:
    found = fault_at(repaired({"Id": "1", name: value}, PATH), name)
    assert found is fault is None or (found or "").startswith(fault or "-")


def test_what_is_absent_or_named_like_the_notes_is_not_noted() -> None:
    found = repaired({"Id": "1", NOTES: {"Members": "is null"}, "Boot": {NOTES: 5, "BootOrder": 5}}, PATH)
    assert fault_at(found, "Members") is None
    assert fault_at(found["Boot"], "BootOrder") == "has a value of another type"


def test_null_is_an_empty_list_or_no_object() -> None:
    assert of({"Drives": None, "Status": None, "Links": None, "EthernetInterfaces": None, "MediaTypes": None}) == {
        "Drives": []
    }


@pytest.mark.parametrize("value", [{"@odata.id": "/a"}, "/a", ["/a"], [{"@odata.id": "/a"}]])
def test_links_have_one_form(value: Any) -> None:
    assert of({"Bios": value, "Drives": value}) == {
        "Bios": {"@odata.id": "/a"},
        "Drives": [{"@odata.id": "/a"}],
    }


def test_one_name_may_mean_two_things() -> None:
    link = {"@odata.id": "/a"}
    assert of({"Chassis": link, "Links": {"Chassis": link}}) == {"Chassis": link, "Links": {"Chassis": [link]}}
    assert of({"Controllers": link}) == {"Controllers": link}
    assert of({"Controllers": link, **a("NetworkAdapter")})["Controllers"] == [link]
    assert of({"Controllers": link, **a("Storage")}, "/redfish/v1/Chassis/1/NetworkAdapters/1")["Controllers"] == link


def a(kind: str) -> dict[str, str]:
    return {"@odata.type": f"#{kind}.v1_5_0.{kind}"}


@pytest.mark.parametrize(
    "kind, document, found",
    [
        ("Drive", {"Protocol": "PCIE"}, {"Protocol": "PCIe"}),
        ("EventDestination", {"Protocol": "PCIE"}, {"Protocol": "PCIE"}),
        ("PCIeDevice", {"Slot": {"Location": {"Info": "x"}}}, {"Slot": {"Location": {"Info": "x"}}}),
        ("MessageRegistryFile", {"Location": "/a"}, {"Location": [{"@odata.id": "/a"}]}),
        ("Certificate", {"Issuer": {"State": "on"}}, {"Issuer": {"State": "on"}}),
        ("Certificate", {"Status": {"State": "enabled"}}, {"Status": {"State": "Enabled"}}),
        ("Thermal", {"Fans": "/a"}, {"Fans": [{"@odata.id": "/a", "MemberId": "0", "Name": "0"}]}),
        ("ThermalSubsystem", {"Fans": {"@odata.id": "/a"}}, {"Fans": {"@odata.id": "/a"}}),
        ("ServiceRoot", {"Links": {"Sessions": "/a"}}, {"Links": {"Sessions": {"@odata.id": "/a"}}}),
        ("Task", {"Messages": {"Message": 5}}, {"Messages": {"Message": 5}}),
        ("NetworkDeviceFunction", {"NetDevFuncCapabilities": "iSCSI"}, {"NetDevFuncCapabilities": ["iSCSI"]}),
        # Here it is a property of nothing that is known.
        ("Memory", {"NetDevFuncCapabilities": 5, "Enabled": "x"}, {"NetDevFuncCapabilities": 5, "Enabled": "x"}),
        ("Memory", {"MaxSpeedMHz": "5"}, {"MaxSpeedMHz": 5}),
    ],
)  # fmt: skip
def test_a_property_has_the_type_of_its_place(kind: str, document: Document, found: Document) -> None:
    assert of({**document, **a(kind)}) == {**found, **a(kind)}


def test_a_member_in_a_collection_says_what_it_is() -> None:
    members = [{**a("Chassis"), "WidthMm": "5"}, {**a("Memory"), "WidthMm": "5"}, {"@odata.id": "/a"}]
    found = of({"Members": members, **a("ChassisCollection")})["Members"]
    assert [one.get("WidthMm") for one in found] == [5, "5", None]


@pytest.mark.parametrize(
    "kind, found",
    [
        ("Chassis", {"ChassisType": "Other"}), ("EventService", {"Actions": {}}), ("UpdateService", {"Actions": {}}),
        ("Drive", {}), ("VolumeCollection", {"Actions": {}, "ChassisType": "Other"}),
        ("AcmeChassis", {"Actions": {}, "ChassisType": "Other"}), ("", {"Actions": {}, "ChassisType": "Other"}),
    ],
)  # fmt: skip
def test_what_the_library_demands_is_there_wherever_the_document_is(kind: str, found: Document) -> None:
    named = {"Id": "7", "Name": "7", **a(kind)}
    assert repaired(a(kind), "/odd/7") == repaired(a(kind), "/redfish/v1/Systems/7/") == {**named, **found}


def test_what_vendors_name_stays() -> None:
    document = {"Attributes": {"Status": 5, "Members": None, "Boot": "x"}, "Oem": {"Acme": {"Fans": 1}}, "Own": [1]}
    assert of(document) == document


def test_a_part_without_a_name_gets_one_from_its_place() -> None:
    fans = [{"Reading": 1}, 5, {"MemberId": None, "Reading": "2"}]
    assert of({"Fans": fans})["Fans"] == [
        {"Reading": 1, "MemberId": "0", "Name": "0"},
        {"MemberId": "1", "Reading": 2, "Name": "1"},
    ]


@pytest.mark.difference("resources without a name")
def test_a_resource_without_an_identity_gets_one_from_its_path_and_nonsense_gets_none() -> None:
    assert repaired({"@odata.id": "/x", "Id": None}, "/redfish/v1/Chassis/4/")["Id"] == "4"
    assert repaired({"Systems": 5}, "/redfish/v1/").keys() == {NOTES}


def test_an_action_needs_a_place() -> None:
    actions = {"#A": {"target": "/a"}, "#B": {}, "#C": 5, "#D": {"target": None}, "#E": {"target": ""}, "Oem": {}}
    assert of({"Actions": actions})["Actions"] == {"#A": {"target": "/a"}, "Oem": {}}


def test_a_clock_that_is_not_set_is_left_out() -> None:
    assert of({"BootProgress": {"LastStateTime": "0000-00-00T00:00:00Z", "LastState": "OSRunning"}}) == {
        "BootProgress": {"LastState": "OSRunning"}
    }


@pytest.mark.parametrize(
    "content, value",
    [
        (b'"a\r\nb"', "a\r\nb"),
        (b'"a\xffb"', "a\ufffdb"),
        (b"\xef\xbb\xbf1", 1),
        ('"\u00fc"'.encode("utf-16"), "\u00fc"),
        (b'"\\ud800"', "\ufffd\ufffd\ufffd"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\u0000"', "\ufffd"),
        (b"1\0\0", 1),
        (b"NaN", None),
        (b"1e999", None),
        (b"9" * 5000, None),
    ],
)
def test_json_is_read_as_bmcs_write_it(content: bytes, value: Any) -> None:
    assert lenient_json.parse(content) == value


@pytest.mark.parametrize("content", [b"", b"{", b"<html>", b"[" * 100_000])
def test_what_has_no_structure_is_no_json(content: bytes) -> None:
    with pytest.raises(ValueError, match="."):
        lenient_json.parse(content)


@pytest.mark.parametrize("said", [{}, {"@odata.type": "#NetworkAdaptor.v1_0_0.NetworkAdaptor"}])
def test_one_controller_of_an_adapter_of_an_unknown_type_is_a_list_of_one(said: dict[str, str]) -> None:
    controller = {"@odata.id": "/redfish/v1/Chassis/1/NetworkAdapters/1#/Controllers/0", "FirmwarePackageVersion": "1"}
    found = repaired({"Id": "1", **said, "Controllers": controller}, "/redfish/v1/Chassis/1/NetworkAdapters/1")
    assert [one["FirmwarePackageVersion"] for one in found["Controllers"]] == ["1"]
    assert fault_at(found, "Controllers") == "is one object where a list should be"


def test_a_collection_in_the_place_of_a_list_stays_a_link() -> None:
    collection = {"@odata.id": "/redfish/v1/Systems/1/Storage/1/Controllers", "Members@odata.count": 1, "Members": []}
    for link in (collection, {"@odata.id": collection["@odata.id"], "Name": "Controllers"}):
        found = repaired(
            {"@odata.type": "#Storage.v1_9_0.Storage", "Controllers": link}, "/redfish/v1/Systems/1/Storage/1"
        )
        assert found["Controllers"]["@odata.id"] == collection["@odata.id"]


@pytest.mark.parametrize("said", ["#ComputerSystem.v1_0_0.ComputerSystem", "#Power.v1_0_0.Chassi"])
def test_a_chassis_that_says_that_it_is_something_else_has_what_the_library_demands(said: str) -> None:
    document = {
        "@odata.type": said,
        "Id": "1",
        "ThermalSubsystem": {"@odata.id": "/redfish/v1/Chassis/1/ThermalSubsystem"},
    }
    assert repaired(document, "/redfish/v1/Chassis/1")["ChassisType"] == "Other"

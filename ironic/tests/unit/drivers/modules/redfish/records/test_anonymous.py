"""Documents without what is private: nothing private is left, links lead where they led, nothing else changes."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.drivers.modules.redfish.records.anonymous import Anonymiser
from ironic.drivers.modules.redfish.records.json_leaves import leaves
from ironic.drivers.modules.redfish.records.stand_ins import Kind
from ironic.tests.growth import grows_too_fast

HOST = "bmc7.rack.corp"
PASSWORD = "swordfish"


def anonymised(documents: Mapping[str, Any], login: list[tuple[Kind, str]] | None = None) -> dict[str, Any]:
    """Return documents by path, or texts of JSON, as they are in a record."""
    texts = {path: one if isinstance(one, str) else json.dumps(one) for path, one in documents.items()}
    anonymiser = Anonymiser(HOST, login or [])
    for path, text in texts.items():
        anonymiser.learn_text(path)
        anonymiser.learn(text)
    anonymiser.begin_replacing()
    return {anonymiser.text(path): json.loads(anonymiser.document(text)) for path, text in texts.items()}


def the_only(value: Any, name: str = "Text") -> Any:
    (document,) = anonymised({"/redfish/v1": {name: value}}).values()
    return document[name]


# All that a generated document may have of its machine

_UPPER = "ABCDEFGHJKLMNPQRSTUVWXYZ"
serials = st.from_regex(rf"[{_UPPER}]{{2}}[1-9][0-9]{{3}}[{_UPPER}]{{1,4}}", fullmatch=True)
pairs = st.from_regex(r"[1-9a-f][0-9a-f]", fullmatch=True)
macs = st.lists(pairs, min_size=6, max_size=6, unique=True).map(":".join)
uuids = st.uuids(version=4).map(str)
addresses = st.ip_addresses(v=4, network="10.0.0.0/8").map(str)
long_addresses = st.ip_addresses(v=6, network="fd00::/8").map(str)
hosts = st.from_regex(r"[a-z]{3,8}[1-9][0-9]{1,3}", fullmatch=True)
users = st.from_regex(r"[a-z]{4,8}[1-9][0-9]", fullmatch=True)
secrets = st.fixed_dictionaries(
    {
        "SerialNumber": serials,
        "AssetTag": serials,
        "MACAddress": macs,
        "UUID": uuids,
        "Address": addresses | long_addresses,
        "HostName": hosts,
        "UserName": users,
        "AuthToken": serials,
        "Email": users.map(lambda user: f"{user}@mail.corp"),
    }
)
# Odd values and words of Redfish, which stay.
harmless = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(0, 10**6),
    st.sampled_from(
        ["Enabled", "OK", "On", "#Chassis.v1_2_0.Chassis", "2.10.1", "", " ", "N/A", 'é\n\t"\\', "1.8 GHz"]
    ),
)
names = st.sampled_from(["Model", "State", "Health", "Count", "Oem", "PowerState", "Boot", "Links", "X"])
trees = st.recursive(
    harmless,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@given(secrets, trees, st.booleans(), st.integers(0, 4))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_nothing_private_is_left_and_nothing_else_changes(
    private: dict[str, str], tree: Any, is_oem: bool, indent: int
) -> None:
    serial, mac = private["SerialNumber"], private["MACAddress"]
    place = f"/redfish/v1/Systems/{serial}"
    card = f"{place}/EthernetInterfaces/{mac.replace(':', '').upper()}"
    hidden = {
        **private,
        "Text": f"{serial} at {private['Address']}: {private['HostName']}-{mac.upper()} of {private['UserName']}",
        "Url": f"nfs://{private['HostName']}.corp/share/{private['UserName']}.iso",
        "Keys": {mac: private["UUID"]},
        "List": [private["UUID"].upper(), [serial.lower()]],
    }
    documents: dict[str, Any] = {
        "/redfish/v1/Systems": {"Members": [{"@odata.id": place}], "Same": tree},
        place: {
            **({"Oem": {"Vendor": hidden}} if is_oem else hidden),
            "Id": serial,
            "Same": tree,
            "Link": {"@odata.id": f"{card}/"},
            "Own": {"@odata.id": f"https://{HOST}:8443{card}"},
        },
        card: {"@odata.id": card, "MACAddress": mac, "Same": tree},
    }
    texts = {path: json.dumps(one, indent=indent or None) for path, one in documents.items()}
    found = anonymised(texts, [(Kind.SECRET, PASSWORD)])
    everything = json.dumps(found).lower()
    for value in (*private.values(), mac.replace(":", ""), HOST):
        assert value.lower() not in everything
    collection, system, interface = found.values()
    # Links lead where they led.
    new_place, new_card = list(found)[1:]
    assert collection["Members"] == [{"@odata.id": new_place}] and system["Link"] == {"@odata.id": f"{new_card}/"}
    assert system["Own"] == {"@odata.id": f"https://bmc.example{new_card}"}
    assert new_place.startswith("/redfish/v1/Systems/") and new_card.startswith(f"{new_place}/EthernetInterfaces/")
    # Equal values stay equal, in each spelling.
    shown = system["Oem"]["Vendor"] if is_oem else system
    assert shown["SerialNumber"] == system["Id"] == new_place.rpartition("/")[2]
    assert shown["SerialNumber"].lower() == shown["List"][1][0]
    assert shown["MACAddress"] == interface["MACAddress"] == next(iter(shown["Keys"]))
    assert shown["MACAddress"].replace(":", "") == new_card.rpartition("/")[2].lower()
    assert shown["UUID"] == shown["Keys"][shown["MACAddress"]] == shown["List"][0].lower()
    assert re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", shown["MACAddress"])
    # Nothing else changes.
    assert [json.dumps(one["Same"]) for one in found.values()] == [json.dumps(tree)] * 3
    assert {*shown} - {"Same", "Id", "Link", "Own"} == {*hidden}


@pytest.mark.parametrize(
    "value",
    [
        "/redfish/v1/Systems/System.Embedded.1/NetworkAdapters/NIC.Integrated.1-1",
        "#ComputerSystem.v1_20_1.ComputerSystem",
        "BiosAttributeRegistryProt0.208.208.0",
        "PciRoot(0x0)/Pci(0x1,0x0)/HD(1,GPT)",
        "255.255.255.0",
        "0.0.0.0",
        "::",
        "00:00:00:00:00:00",
        "00000000-0000-0000-0000-000000000000",
        "2026-02-02T12:34:56+00:00",
        "http://redfish.dmtf.org/schemas/v1/Chassis.json",
        "Supermicro X11 rev 1.02",
        "Disk.Bay.0:Enclosure.Internal.0-1:RAID.Integrated.1-1",
        "7.00.00.173",
        "a sentence: with signs, and numbers as 12.5",
    ],
)
def test_words_of_redfish_stay(value: str) -> None:
    assert the_only(value) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10.4.5.6", "203.0.113.1"),
        ("at 10.4.5.6:623.", "at 203.0.113.1:623."),
        ("[fe80::1%eth0]:443", "[2001:db8::1%eth0]:443"),
        ("mac aa-bb-cc-dd-ee-0f!", "mac 02-00-00-00-00-01!"),
        ("PciRoot(0x0)/MAC(AABBCCDDEE0F,0x1)/IPv4(0.0.0.0)", "PciRoot(0x0)/MAC(020000000001,0x1)/IPv4(0.0.0.0)"),
        ("naa 0x5000C500A0000009", "naa 0x5000000000000001"),
        ("ask kim.doe@corp.example.org now", "ask person-1@mail.example now"),
        ("cifs://kim:pw@files.corp/iso/x.iso", "cifs://server-1.example/file.iso"),
        (f"https://{HOST}/redfish/v1/Chassis", "https://bmc.example/redfish/v1/Chassis"),
        ("iqn.1994-05.com.redhat:5ae32", "iqn.2000-01.example:node-1"),
        ("-----BEGIN CERTIFICATE-----\nMIIB\n", "secret-1"),
        ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB kim", "secret-1 kim"),
        ("ntp7.corp.local", "host-1.example"),
        ("see db.prod.acme.nl now", "see host-1.example now"),
        ("root@storage", "person-1@mail.example"),
        ("NIC.Slot.1-aabbccddee0f", "NIC.Slot.1-020000000001"),
        ("switch aabbcc-ddee0f", "switch 020000-000001"),
        ("AA_BB_CC_DD_EE_0F", "02_00_00_00_00_01"),
        ("//files7/share/kim.iso", "//server-1.example/file.iso"),
        ("\\\\files7\\share\\kim.iso", "//server-1.example/file.iso"),
        ("token=77abcdef&x=1", "token=secret-1&x=1"),
        ("Authorization: Basic a2ltOmh1bnRlcjI=", "Authorization: Basic secret-1"),
        ("MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQ\nFADBaMQ==", "secret-1"),
        ("licence 35DPH-SVSXJ-HGBJN-C7N5R-2SS4W of kim", "licence secret-1 of kim"),
    ],
)
def test_what_has_a_private_form_is_replaced_anywhere(value: str, expected: str) -> None:
    assert the_only(value) == expected
    assert the_only({"Vendor": [value]}, "Oem") == {"Vendor": [expected]}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("SerialNumber", "N/A", "N/A"),
        ("SerialNumber", "To be filled by O.E.M.", "To be filled by O.E.M."),
        ("SerialNumber", "0000000", "0000000"),
        ("SerialNumber", 4711, 1001),
        ("SerialNumber", {"Value": "CZ12"}, {"Value": "AA01"}),
        ("SerialNumber", [["CZ12"]], [["AA01"]]),
        ("UserName", "root", "user-1"),
        ("Users.2.UserName", "root", "user-1"),
        ("IPv4.1#DNSRacName", "idrac-x", "host-1"),
        ("NTPServers", ["a.b", "", "Disabled"], ["host-1.example", "", "Disabled"]),
        ("FirmwareVersion", "2.10.10.10", "2.10.10.10"),
        ("PasswordMinLength", "12x34", "12x34"),
        ("AdminPassword", "hunter2", "secret-1"),
        ("AdminPassword", "Disabled", "Disabled"),
        ("PostalAddress", {"Country": "NL", "Lines": ["x"]}, {"Country": "text-1", "Lines": ["x"]}),
        ("X", {"Name": "ServiceTag", "Value": "ABC1234"}, {"Name": "ServiceTag", "Value": "AAA0001"}),
        (
            "X",
            {"AttributeName": "Speed", "CurrentValue": "ABC1234"},
            {"AttributeName": "Speed", "CurrentValue": "ABC1234"},
        ),
        ("SmtpServer", "mailhost", "host-1"),
        ("SyslogServer", "log.acme.nl:514", "host-2.example"),
        ("MailServerAddress", "10.4.5.6", "203.0.113.1"),
        ("Destination", "hookhost", "host-1"),
        ("KerberosRealm", "ACME.NL", "host-1.example"),
        ("ServerName", "", ""),
        ("Users", ["kimdoe"], ["user-1"]),
        ("MaxUsers", 16, 16),
        ("AccountId", "kimdoe", "user-1"),
        ("RemoteGroup", "ACME\\admins", "user-1"),
        ("Issuer", "CN=ca, O=Acme", "text-1"),
        ("Subject", {"CommonName": "ca", "Organization": "Acme"}, {"CommonName": "host-1", "Organization": "text-1"}),
        ("PPID", "CN-0VK-83748-291", "AA-0AA-00000-001"),
        ("Location", {"Info": "row 5", "InfoFormat": "x"}, {"Info": "text-1", "InfoFormat": "x"}),
        (
            "Attributes",
            {"AdminName": "Kim", "AdminOtherInfo": "x7"},
            {"AdminName": "user-1", "AdminOtherInfo": "text-1"},
        ),
        ("Image", "files7:/share/kim.iso", "server-1.example:/file.iso"),
        ("Image", "files7.acme.nl/kim.iso", "server-1.example/file.iso"),
        ("Image", "/mnt/kim/x.iso", "/files-1/file.iso"),
        ("ImageName", "kim.iso", "file-1.iso"),
        ("CoherencyDomain", "Socket", "Socket"),
        ("LogicalAddress", "0x10", "0x10"),
        ("TotalCapacity", "480 GB", "480 GB"),
        ("Password", 123456, 100001),
        ("@odata.etag", 'W/"0123456789abcdef0123"', 'W/"0123456789abcdef0123"'),
    ],
)
def test_what_a_property_has_decides(name: str, value: Any, expected: Any) -> None:
    assert the_only(value, name) == expected


def test_a_common_word_is_replaced_only_where_it_is_private() -> None:
    given = {
        "UserName": "operator",
        "RoleId": "Operator",
        "SerialNumber": "Model",
        "Model": "Model 7",
        "Name": "Operator",
    }
    (found,) = anonymised({"/redfish/v1/x": given}).values()
    assert found == {**given, "UserName": "user-1", "SerialNumber": found["SerialNumber"]}
    assert found["SerialNumber"] != "Model"


@pytest.mark.parametrize(
    ("name", "private", "other", "expected"),
    [
        ("HostName", "dbserver", "dbserver", "host-1"),
        ("UserName", "kimdoe", "kimdoe", "user-1"),
        ("SerialNumber", "ABCDEFGH", "ABCDEFGH", "AAAAAAAB"),
        ("Email", "kim@acme.nl", "kim@acme.nl", "person-1@mail.example"),
    ],
)
def test_a_key_that_is_private_is_replaced(name: str, private: str, other: str, expected: str) -> None:
    (found,) = anonymised({"/x": {name: private, "Oem": {other: 1, "Name": 2, "message": 3}}}).values()
    assert found["Oem"] == {expected: 1, "Name": 2, "message": 3} and found[name] == expected


@pytest.mark.parametrize(
    ("private", "place"),
    [
        ("83748291", "/redfish/v1/Chassis/SN83748291"),
        ("CZ-X123-45", "/redfish/v1/Chassis/CZX12345"),
        ("CZX12345", "/redfish/v1/Chassis/RackCZX12345Blade"),
    ],
)
def test_a_serial_number_within_a_longer_name_is_replaced(private: str, place: str) -> None:
    (system, chassis) = anonymised({"/x": {"SerialNumber": private, "Link": {"@odata.id": place}}, place: {}}).items()
    assert system[1]["Link"] == {"@odata.id": chassis[0]}
    assert private.replace("-", "") not in chassis[0] and len(chassis[0]) == len(place)


def test_a_number_that_is_a_password_elsewhere_stays_a_number() -> None:
    given = '{"Password": "123456", "Count": 123456, "PIN": 4711, "UserName": "445566", "Size": 445566}'
    (found,) = anonymised({"/x": given}).values()
    assert [type(one) for one in found.values()] == [str, int, int, str, int]
    assert {123456, 4711, 445566, "123456", "445566"}.isdisjoint(found.values())


@pytest.mark.parametrize("text", ["-12345678", "12345678e1", "1.12345678e3", "-1.5E+12345678"])
def test_a_number_with_a_sign_or_an_exponent_stays_a_number(text: str) -> None:
    documents = {"/a": f'{{"Offset": {text}, "SerialNumber": {text}}}', "/b": '{"Ready": true, "Other": null}'}
    login = [(Kind.SECRET, "12345678"), (Kind.SECRET, "true"), (Kind.SECRET, "null")]
    found = anonymised(documents, login)
    assert isinstance(found["/a"]["Offset"], int | float)
    assert isinstance(found["/a"]["SerialNumber"], int | float)
    assert "12345678" not in json.dumps(found)
    assert found["/b"] == {"Ready": True, "Other": None}


def test_the_name_of_the_bmc_is_replaced_outside_urls_as_well() -> None:
    assert the_only(f"{HOST}, or bmc7") == "host-1.example, or host-2"


def test_a_version_is_an_address_where_it_is_one_of_the_bmc() -> None:
    (found,) = anonymised(
        {"/x": {"FirmwareVersion": "10.4.5.6", "Address": "10.4.5.6", "BuildVersion": "1.2.3.4"}}
    ).values()
    assert found == {"FirmwareVersion": "203.0.113.1", "Address": "203.0.113.1", "BuildVersion": "1.2.3.4"}


def test_a_switch_without_a_domain_is_replaced_in_texts() -> None:
    (found,) = anonymised({"/x": {"SystemName": "leaf-12.dc1", "SystemDescription": "Acme leaf-12"}}).values()
    assert found["SystemDescription"] == "Acme host-2"


def test_a_login_is_nowhere() -> None:
    login = [(Kind.USER, "kim"), (Kind.SECRET, PASSWORD), (Kind.SECRET, "")]
    (found,) = anonymised({"/x": {"Text": f"no {PASSWORD.upper()} here", "UserName": "kim"}}, login).values()
    assert found["Text"] == "no secret-1 here" and found["UserName"] == "user-1"


def test_many_private_values_take_no_more_than_their_share() -> None:
    document = {"List": [{"SerialNumber": f"CZ{number:05}X", "Text": "word " * 20} for number in range(3000)]}
    (found,) = anonymised({"/x": document}).values()
    assert len({one["SerialNumber"] for one in found["List"]}) == 3000


def crowded(size: int) -> str:
    """Return a document of so many characters or so, whose one text has addresses, all of them different."""
    numbers = range(size // 12)
    return json.dumps({"Text": " ".join(f"10.{one >> 16 & 255}.{one >> 8 & 255}.{one & 255}" for one in numbers)})


def nested(size: int) -> str:
    """Return a document of objects in objects."""
    depth = min(400, size // 10)
    one = "".join(f'{{"k{number}":' for number in range(depth)) + "1" + "}" * depth
    return f"[{','.join([one] * (size // len(one) + 1))}]"


@pytest.mark.parametrize("make", [crowded, nested])
def test_a_hostile_document_takes_a_time_that_grows_with_its_size(make: Callable[[int], str]) -> None:
    assert not grows_too_fast(lambda text: anonymised({"/redfish/v1": text}), make, least=0.02)


def test_what_a_leaf_keeps_does_not_grow_with_its_depth() -> None:
    marked = list(leaves('{"Places": {"a": {"b": {"c": 1}}}, "d": 2}', frozenset({"Places"})))
    assert [(leaf.name, leaf.above, leaf.is_marked) for leaf in marked if not leaf.is_name] == [
        ("c", "b", True),
        ("d", "", False),
    ]

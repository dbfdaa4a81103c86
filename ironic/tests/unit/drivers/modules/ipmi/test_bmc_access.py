"""What driver_info may say about an IPMI BMC, and what it may not."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.modules.ipmi.bmc_access import PROPERTIES, Access, access_of, flag_of
from ironic.tests.unit.drivers.machine import work_on

INFO = {"ipmi_address": "192.0.2.1"}
DUAL = {
    "ipmi_bridging": "dual",
    "ipmi_local_address": "0x20",
    "ipmi_transit_channel": "0",
    "ipmi_transit_address": 130,
    "ipmi_target_channel": "7",
    "ipmi_target_address": "0xB2",
}
CANARY = "canary-of-the-password"

# What an attacker would like to pass to a program: options, paths, further lines, other types.
HOSTILE = (
    "-I open",
    "-f/etc/shadow",
    "--help",
    "@/etc/shadow",
    "/etc/shadow",
    "$(reboot)",
    "a b",
    "a\nb",
    "a\0b",
    "\ud800",
    " ",
    "x" * 300,
    "0x",
    "-1",
    "256",
    "99999",
    "²",
    -1,
    70000,
    1.5,
    True,
    ["open"],
    {"a": 1},
)
# What is nevertheless a value of a key: any line is a password, and ipmitool gets it as the value of an option.
LINES = {value for value in HOSTILE if isinstance(value, str) and len(value) < 20 and value.isprintable()}
HARMLESS: dict[str, set[Any]] = {
    "ipmi_address": {"0x", "256", "99999"},
    "ipmi_port": {"256"},
    "ipmi_username": LINES | {-1, 70000},
    "ipmi_password": LINES | {-1, 70000},
    "ipmi_protocol_version": {1.5},
}


def access(**info: Any) -> Access:
    return access_of(work_on(driver_info={**INFO, **info}).node)


def test_an_address_is_enough() -> None:
    assert access() == Access("192.0.2.1")


def test_all_keys_count() -> None:
    found = access(
        ipmi_port="6230",
        ipmi_username="admin",
        ipmi_password="p w",
        ipmi_hex_kg_key="61620000",
        ipmi_priv_level="OPERATOR",
        ipmi_cipher_suite=17,
        **DUAL,
    )
    bridge = ("-m", "0x20", "-B", "0", "-T", "130", "-b", "7", "-t", "0xB2")
    assert found == Access("192.0.2.1", 6230, "admin", "p w", b"ab", "OPERATOR", "lanplus", "17", bridge)


@pytest.mark.parametrize("address", ["bmc-1.example.org", "2001:db8::1", "192.0.2.1"])
def test_an_address_is_a_name_or_an_ip_address(address: str) -> None:
    assert access(ipmi_address=address).address == address


def test_version_1_5_is_another_protocol() -> None:
    assert access(ipmi_protocol_version="1.5").protocol == "lan"
    assert access(ipmi_protocol_version=2.0).protocol == "lanplus"
    with pytest.raises(InvalidParameterValue, match="ipmi_cipher_suite"):
        access(ipmi_protocol_version="1.5", ipmi_cipher_suite="3")


def test_single_bridging_needs_a_target() -> None:
    single = DUAL | {"ipmi_bridging": "single"}
    assert access(**single).bridge == ("-m", "0x20", "-b", "7", "-t", "0xB2")
    with pytest.raises(MissingParameterValue, match="ipmi_target_channel and ipmi_target_address"):
        access(ipmi_bridging="single")


def test_dual_bridging_names_all_that_is_missing() -> None:
    with pytest.raises(MissingParameterValue, match="ipmi_transit_channel and ipmi_transit_address"):
        access(**DUAL | {"ipmi_transit_channel": None, "ipmi_transit_address": ""})


def test_bridging_keys_have_no_meaning_without_bridging() -> None:
    assert access(**DUAL | {"ipmi_bridging": "no", "ipmi_target_address": "-x"}).bridge == ()


def test_brackets_around_an_ipv6_address_are_taken_off() -> None:
    assert access(ipmi_address="[2001:db8::1]").address == "2001:db8::1"
    for wrong in ("[192.0.2.1]", "[::1", "[fe80::1%eth0]", "[]"):
        with pytest.raises(InvalidParameterValue, match="ipmi_address"):
            access(ipmi_address=wrong)


def test_an_address_is_required() -> None:
    with pytest.raises(MissingParameterValue, match="ipmi_address"):
        access(ipmi_address=None)


@pytest.mark.parametrize("key", sorted(PROPERTIES.keys() - {"ipmi_force_boot_device", "ipmi_disable_boot_timeout"}))
@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_hostile_values_are_refused_and_not_quoted(key: str, value: Any) -> None:
    info = {**(DUAL if "address" in key or "channel" in key else {}), key: value}
    if any(value is one for one in HARMLESS.get(key, ())):
        access(**info)
        return
    with pytest.raises(InvalidParameterValue) as refused:
        access(**info)
    assert key in str(refused.value)
    assert not isinstance(value, str) or len(value) < 4 or value not in str(refused.value)


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
@pytest.mark.parametrize("name", ["force_boot_device", "disable_boot_timeout"])
def test_flags_are_boolean_words(name: str, value: Any) -> None:
    node = work_on(driver_info={f"ipmi_{name}": value}).node
    if value is True:
        assert flag_of(node, name, default=False)
        return
    with pytest.raises(InvalidParameterValue, match=name):
        flag_of(node, name, default=False)


def test_flags_have_defaults() -> None:
    node = work_on(driver_info={"ipmi_force_boot_device": "yes"}).node
    assert flag_of(node, "force_boot_device", default=False)
    assert flag_of(node, "disable_boot_timeout", default=True)


def test_a_key_with_a_zero_byte_inside_is_refused() -> None:
    with pytest.raises(InvalidParameterValue, match="zero byte"):
        access(ipmi_hex_kg_key="610062")


def test_a_long_user_name_is_refused() -> None:
    with pytest.raises(InvalidParameterValue, match="16 bytes"):
        access(ipmi_username="ä" * 9)


def test_secrets_are_not_shown() -> None:
    assert CANARY not in repr(access(ipmi_password=CANARY, ipmi_hex_kg_key=CANARY.encode()[:20].hex()))


def test_controllers_behind_one_bmc_share_its_name() -> None:
    assert access(**DUAL).server == access().server == "ipmi://192.0.2.1:623"
    assert access(ipmi_address="2001:db8::1", ipmi_port=6230).server == "ipmi://[2001:db8::1]:6230"

"""Which changes of driver_info would send a stored secret elsewhere, and which addresses it has."""

import time
from typing import Any

import pytest

from ironic.core.secrets.masking import REPLACEMENT
from ironic.core.secrets.secret_updates import addresses, redirected_secrets

REDFISH = {"redfish_address": "https://10.0.0.1", "redfish_username": "root", "redfish_password": "old"}
IPMI = {"ipmi_address": "10.0.0.1", "ipmi_username": "root", "ipmi_password": "old", "ipmi_hex_kg_key": "00"}
ACME: dict[str, Any] = {"acme": {"address": "10.0.0.1", "login": {"password": "old"}}}
SEVERAL: dict[str, Any] = {"acme_bmcs": [{"host": "one", "password": "old"}, {"host": "two", "password": "other"}]}


def setting(before: dict[str, Any], **values: Any) -> list[str]:
    """Return what is withheld where keys of the first level are set; None takes one away."""
    after = {name: value for name, value in (before | values).items() if value is not None}
    return redirected_secrets(before, after, [((name,), value) for name, value in values.items() if value is not None])


@pytest.mark.parametrize(
    ("before", "values"),
    [
        (REDFISH, {"redfish_address": "https://10.0.0.2"}),
        (REDFISH, {"redfish_address": "http://10.0.0.1"}),
        (REDFISH, {"redfish_address": None}),
        (REDFISH, {"redfish_verify_ca": False}),
        (REDFISH | {"redfish_verify_ca": "/etc/ca.pem"}, {"redfish_verify_ca": None}),
        (REDFISH, {"redfish_tls_minimum_version": "1.1"}),
        (REDFISH, {"redfish_tls_ciphers": "ALL"}),
        (REDFISH, {"redfish_address": "https://10.0.0.2", "redfish_password": REPLACEMENT}),
        (REDFISH, {"redfish_system_id": "https://10.0.0.2/redfish/v1/Systems/1"}),
        (REDFISH, {"redfish_system_id": "//10.0.0.2/redfish/v1/Systems/1"}),
        (REDFISH, {"redfish_system_id": "/redfish/v1/Systems/2"}),
        ({"snmp_address": "a", "snmp_outlet": 1, "snmp_auth_key": "x"}, {"snmp_outlet": 2}),
        (IPMI, {"ipmi_address": "10.0.0.2", "ipmi_password": "old"}),
        (IPMI, {"ipmi_port": 6230}),
        (IPMI, {"ipmi_bridging": "dual"}),
        (IPMI, {"ipmi_transit_address": "0x82"}),
        (IPMI, {"ipmi_target_channel": "7"}),
        (IPMI, {"ipmi_protocol_version": "1.5"}),
        (IPMI, {"ipmi_cipher_suite": "0"}),
        ({"ilo_address": "a", "ilo_password": "x"}, {"ilo_address": "b"}),
        ({"ilo_address": "a", "ilo_password": "x"}, {"ca_file": "/tmp/x"}),
        ({"ilo_address": "a", "snmp_auth_priv_password": "x"}, {"ilo_address": "b"}),
        ({"irmc_address": "a", "irmc_password": "x"}, {"irmc_port": 80}),
        ({"drac_address": "a", "drac_password": "x"}, {"drac_protocol": "http"}),
        ({"snmp_address": "a", "snmp_auth_key": "x"}, {"snmp_version": "1"}),
        ({"acme_address": "a", "admin_password": "x"}, {"acme_address": "b"}),
        ({"acmeHost": "a", "acmePassword": "x"}, {"acmeHost": "b"}),
        ({"acme-url": "a", "acme-password": "x"}, {"acme-url": "b"}),
        ({"address": "a", "acme_password": "x"}, {"address": "b"}),
        ({"acme_address": "a", "password": "x"}, {"acme_address": "b"}),
        ({"acme_where": "10.0.0.1", "acme_password": "x"}, {"acme_where": "10.0.0.2"}),
        ({"acme_token_url": "https://a", "acme_password": "x"}, {"acme_token_url": "https://b"}),
        ({"acme_where": "[fd00::1]", "acme_password": "x"}, {"acme_where": "bmc"}),
        (ACME, {"acme": {"address": "10.0.0.2", "login": {"password": REPLACEMENT}}}),
        (ACME, {"acme_port": 1}),
        (SEVERAL, {"acme_port": 1}),
    ],
)
def test_a_secret_that_would_go_elsewhere_has_to_be_brought_along(
    before: dict[str, Any], values: dict[str, Any]
) -> None:
    after = {name: before.get(name) if value == REPLACEMENT else value for name, value in values.items()}
    if values.get("acme", {}).get("login"):
        after["acme"] = values["acme"] | {"login": {"password": "old"}}
    whole = {name: value for name, value in (before | after).items() if value is not None}
    assert redirected_secrets(before, whole, [((name,), value) for name, value in values.items() if value is not None])


@pytest.mark.parametrize(
    ("before", "values"),
    [
        (REDFISH, {"redfish_address": "https://10.0.0.2", "redfish_password": "old"}),
        (REDFISH, {"redfish_address": "https://10.0.0.2", "redfish_password": "new"}),
        (REDFISH, {"redfish_address": "https://10.0.0.2", "redfish_password": None}),
        (REDFISH, {"redfish_address": "https://10.0.0.1"}),
        (REDFISH, {"redfish_username": "admin"}),
        (REDFISH, {"redfish_password": "new"}),
        (REDFISH, {"ipmi_address": "10.0.0.2"}),
        (REDFISH, {"deploy_kernel": "http://images/kernel", "image_http_proxy": "http://proxy"}),
        (REDFISH, {"agent_verify_ca": "/etc/ca.pem"}),
        (REDFISH | {"redfish_password": ""}, {"redfish_address": "https://10.0.0.2"}),
        ({"snmp_auth_prot_password": "x", "snmp_priv_key": "y"}, {"snmp_auth_prot_password": "z"}),
        (IPMI, {"ipmi_terminal_port": 10001}),
        (IPMI, {"ipmi_priv_level": "OPERATOR"}),
        (IPMI, {"ipmi_force_boot_device": True}),
        (IPMI, {"ipmi_address": "10.0.0.2", "ipmi_password": "old", "ipmi_hex_kg_key": "00"}),
        (IPMI, {"ipmi_address": "10.0.0.2", "ipmi_password": "new", "ipmi_hex_kg_key": None}),
        (ACME, {"acme": {"address": "10.0.0.2", "login": {"password": "old"}}}),
        (SEVERAL, {"acme_bmcs": [{"host": "three", "password": "old"}]}),
        ({}, {"redfish_address": "https://10.0.0.2", "redfish_password": "x"}),
    ],
)
def test_what_stays_where_it_was_or_comes_with_its_secret_is_fine(
    before: dict[str, Any], values: dict[str, Any]
) -> None:
    assert setting(before, **values) == []


def test_only_what_belongs_to_the_changed_address_is_asked_for() -> None:
    assert setting(REDFISH | IPMI, ipmi_address="10.0.0.2") == ["ipmi_hex_kg_key", "ipmi_password"]


@pytest.mark.parametrize(
    "written",
    [
        [(("acme_bmcs", "0", "host"), "evil")],
        [(("acme_bmcs", "0", "host"), "evil"), (("acme_bmcs", "1", "password"), "other")],
    ],
)
def test_a_part_of_a_list_brings_nothing(written: list[Any]) -> None:
    after = {"acme_bmcs": [{"host": "evil", "password": "old"}, {"host": "two", "password": "other"}]}
    assert redirected_secrets(SEVERAL, after, written) == ["acme_bmcs"]


def test_a_secret_that_moves_within_a_list_is_known_again() -> None:
    after = {"acme_bmcs": [{"host": "x"}, {"host": "evil", "password": "old"}]}
    assert redirected_secrets(
        SEVERAL, after, [(("acme_bmcs", "0"), {"host": "x"}), (("acme_bmcs", "1", "host"), "evil")]
    )


def test_an_item_that_was_written_before_the_items_moved_brings_nothing() -> None:
    after = {"acme_bmcs": [{"host": "evil", "password": "old"}, {"host": "two", "password": "other"}]}
    # It was added at the front, and removed again.
    first = (("acme_bmcs", "0"), {"host": "x", "password": "mine"})
    assert redirected_secrets(SEVERAL, after, [first, (("acme_bmcs", "0", "host"), "evil")]) == ["acme_bmcs"]


def test_the_last_word_on_a_secret_counts() -> None:
    after = REDFISH | {"redfish_address": "https://10.0.0.2"}
    path = ("redfish_password",)
    moved = (("redfish_address",), "https://10.0.0.2")
    assert redirected_secrets(REDFISH, after, [moved, (path, "old"), (path, REPLACEMENT)]) == ["redfish_password"]
    assert redirected_secrets(REDFISH, after, [moved, (path, REPLACEMENT), (path, "old")]) == []


def test_many_secrets_and_many_changes_are_judged_in_time() -> None:
    before = {f"f{number}_{word}": word for number in range(5000) for word in ("password", "address")}
    after = before | {f"f{number}_address": "elsewhere" for number in range(1000)}
    written = [((f"f{number}_address",), "elsewhere") for number in range(1000)]
    begun = time.thread_time()
    assert len(redirected_secrets(before, after, written)) == 1000
    assert time.thread_time() - begun < 5


@pytest.mark.parametrize(
    ("info", "found"),
    [
        ({"redfish_address": "https://bmc.example.org:8443"}, ["https://bmc.example.org:8443", "bmc.example.org"]),
        ({"ipmi_address": "192.0.2.7", "ipmi_port": "623"}, ["192.0.2.7"]),
        ({"acme": {"nested": ["2001:db8::7", "rack 7"]}}, ["2001:db8::7"]),
        ({"acme_address": "bmc7.example.org:443"}, ["bmc7.example.org:443", "bmc7.example.org"]),
        ({"acme_host": "bmc7", "acme_hostname": "b7", "acme_server": 7}, ["bmc7"]),
        ({"agent_url": "https://[2001:db8::9]:9999"}, ["https://[2001:db8::9]:9999", "2001:db8::9"]),
        ({"url": "http://["}, ["http://["]),
        ({"redfish_username": "admin", "redfish_verify_ca": "True", "note": "see bmc7"}, []),
    ],
)
def test_addresses_are_found_by_their_form_and_by_the_names_of_their_keys(
    info: dict[str, Any], found: list[str]
) -> None:
    assert addresses(info) == found

"""The interfaces declare what each key of driver_info that they read holds."""

from collections.abc import Iterator

import pytest

from ironic.core.keys import info_keys
from ironic.core.keys.info_keys import Holds, Property
from ironic.drivers.composition.extensions import TYPES_GROUP, installed

# Of interfaces that simulate hardware.
EXAMPLES = {"A1", "A2", "B1", "B2"}


def properties() -> Iterator[tuple[str, str]]:
    for group, points in installed().items():
        if ".interfaces." in group:
            for name, point in points.items():
                if point.value.startswith("ironic."):
                    for key in point.load()().get_properties():
                        yield f"{group}.{name}", key


def test_each_key_that_an_interface_names_is_declared() -> None:
    undeclared = {(where, key) for where, key in properties() if info_keys.of(key) is None and key not in EXAMPLES}
    assert undeclared == set()


def test_each_declared_key_is_named_by_an_interface() -> None:
    assert info_keys.declared().keys() - {key for _, key in properties()} == set()


def test_what_hardware_types_look_machines_up_by_is_an_address() -> None:
    named = {key for point in installed()[TYPES_GROUP].values() for key in point.load().bmc_address_keys or ()}
    assert {info_keys.declared()[key].holds for key in named} == {Holds.ADDRESS}


@pytest.mark.parametrize(
    "holds, keys",
    [
        (Holds.ADDRESS, "ipmi_address redfish_address"),
        (Holds.SECRET, "ipmi_hex_kg_key ipmi_password redfish_password"),
        (Holds.LOGIN, "ipmi_username redfish_username"),
        (Holds.TRUST, "redfish_verify_ca"),
        (Holds.TRUST_OF_OTHERS, "agent_verify_ca"),
        (Holds.OWN_PORT, "ipmi_terminal_port"),
        (Holds.PROXY, "image_http_proxy image_https_proxy image_no_proxy"),
    ],
)
def test_what_rules_depend_on(holds: Holds, keys: str) -> None:
    assert sorted(key for key, one in info_keys.declared().items() if one.holds is holds) == keys.split()


LEADING = """
    external_http_url ipmi_address ipmi_bridging ipmi_cipher_suite ipmi_local_address ipmi_port ipmi_protocol_version
    ipmi_target_address ipmi_target_channel ipmi_transit_address ipmi_transit_channel redfish_address redfish_system_id
    redfish_tls_ciphers redfish_tls_minimum_version redfish_verify_ca vmedia_transport_protocol
"""


def test_the_login_of_a_bmc_is_led_by_these() -> None:
    assert sorted(key for key, one in info_keys.declared().items() if one.leads) == LEADING.split()


def test_a_description_stays_a_text_for_clients() -> None:
    assert all(isinstance(one, Property) and str(one) == one for one in info_keys.declared().values())

"""What a node says about its Redfish BMC."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, Access, access_of
from ironic.tests.unit.drivers.machine import UUID, Machine, work_on


def access(**info: Any) -> Access:
    return access_of(Machine(driver_info={"redfish_address": "192.0.2.5", **info}))


@pytest.mark.parametrize(
    "given, understood",
    [
        ("bmc.example.com", "https://bmc.example.com"),
        ("192.0.2.5:8443", "https://192.0.2.5:8443"),
        ("http://192.0.2.5", "http://192.0.2.5"),
        ("https://bmc.example.com:443/", "https://bmc.example.com:443"),
        (" https://bmc.example.com ", "https://bmc.example.com"),
        ("2001:db8::5", "https://[2001:db8::5]"),
        ("https://[2001:db8::5]:8443", "https://[2001:db8::5]:8443"),
        ("HTTPS://BMC.example.com", "https://bmc.example.com"),
    ],
)
def test_addresses_are_understood(given: str, understood: str) -> None:
    assert access(redfish_address=given).address == understood


@pytest.mark.parametrize(
    "given",
    [
        "ftp://192.0.2.5",
        "https://",
        "https://192.0.2.5:port",
        "https://192.0.2.5:99999",
        "https://root:hunter2@192.0.2.5",
        "https://[::1",
        "https://192.0.2.5/a/../b",
        "https://192.0.2.5/a b",
        5,
        ["192.0.2.5"],
    ],
)
def test_other_addresses_are_refused_without_repeating_them(given: Any) -> None:
    with pytest.raises(InvalidParameterValue, match=UUID) as refusal:
        access(redfish_address=given)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize("given", [None, ""])
def test_an_address_is_needed(given: Any) -> None:
    with pytest.raises(MissingParameterValue, match="redfish_address"):
        access(redfish_address=given)
    with pytest.raises(MissingParameterValue, match=UUID):
        RedfishPower().validate(work_on())
    with pytest.raises(MissingParameterValue, match=UUID):
        RedfishManagement().validate(work_on())


def test_what_is_left_out_comes_from_the_options(conf: Callable[..., None]) -> None:
    assert access() == Access(address="https://192.0.2.5")
    conf(redfish__auth_type="basic", redfish__verify_ca="false")
    conf(redfish__tls_minimum_version="1.2", redfish__tls_ciphers="HIGH")
    assert access() == Access(
        address="https://192.0.2.5", verify=False, auth_type="basic", tls_minimum_version="1.2", tls_ciphers="HIGH"
    )
    given = access(redfish_auth_type="session", redfish_verify_ca=True, redfish_tls_minimum_version="1.3")
    assert (given.auth_type, given.verify, given.tls_minimum_version) == ("session", True, "1.3")


@pytest.mark.parametrize(
    "given, understood", [(True, True), (False, False), ("True", True), ("no", False), (None, True)]
)
def test_certificates_are_checked_unless_told_otherwise(given: Any, understood: bool) -> None:
    assert access(redfish_verify_ca=given).verify is understood


def test_certificates_may_be_checked_against_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.touch()
    assert access(redfish_verify_ca=str(path)).verify == str(path)
    assert access(redfish_verify_ca=str(tmp_path)).verify == str(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"redfish_verify_ca": "/nowhere/ca.pem"},
        {"redfish_verify_ca": 5},
        {"redfish_auth_type": "digest"},
        {"redfish_auth_type": 5},
        {"redfish_tls_minimum_version": "1.0"},
        {"redfish_username": 5},
        {"redfish_username": "root", "redfish_password": 5},
        {"redfish_system_id": 1},
        {"redfish_system_id": "https://elsewhere.example.com/redfish/v1/Systems/1"},
        {"redfish_system_id": "//elsewhere.example.com/redfish/v1/Systems/1"},
        {"redfish_system_id": "/redfish/v1/Systems/1?x"},
    ],
)
def test_wrong_values_are_named_with_the_node(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterValue, match=f"{list(wrong)[-1]} in the driver_info of node {UUID}"):
        access(**wrong)


def test_a_password_needs_no_user() -> None:
    given = access(redfish_password="hunter2")
    assert (given.username, given.password, given.has_login) == (None, "hunter2", True)
    assert "hunter2" not in repr(given)


@pytest.mark.parametrize(
    "given, prefix",
    [
        ("https://192.0.2.5", "/redfish/v1/"),
        ("https://192.0.2.5/", "/redfish/v1/"),
        ("https://192.0.2.5/redfish/v1", "/redfish/v1/"),
        ("https://192.0.2.5/blades/3/redfish/v1/?x=1#y", "/blades/3/redfish/v1/"),
    ],
)
def test_a_path_in_the_address_is_that_of_the_service_root(given: str, prefix: str) -> None:
    found = access(redfish_address=given)
    assert (found.address, found.root_prefix) == ("https://192.0.2.5", prefix)


def test_the_password_is_not_shown() -> None:
    given = access(redfish_username="root", redfish_password="hunter2")
    assert given.password == "hunter2"
    assert "hunter2" not in repr(given)


def test_the_properties_are_those_that_are_read() -> None:
    assert RedfishPower().get_properties() == RedfishManagement().get_properties() == PROPERTIES
    assert all(name.startswith("redfish_") and text.endswith(".") for name, text in PROPERTIES.items())

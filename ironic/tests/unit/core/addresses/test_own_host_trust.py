"""Which changes of driver_info may name a file as whom to believe."""

from typing import Any

import pytest

from ironic.core.addresses.own_host import trust_path_keys


@pytest.mark.parametrize("key", ["redfish_verify_ca", "agent_verify_ca", "acme_ca_file", "acme_cafile", "acme-cert"])
@pytest.mark.parametrize("value", ["/dev/ptmx", "/etc/passwd", "../../etc/passwd", "file", "~root/x", "\ttrue/../x"])
def test_it_names_paths(key: str, value: str) -> None:
    assert trust_path_keys({}, {key: value}) == [key]
    assert trust_path_keys({key: "/old"}, {key: value}) == [key]
    assert trust_path_keys({key: value}, {key: value}) == []


@pytest.mark.parametrize(
    "after",
    [
        {"redfish_verify_ca": True},
        {"redfish_verify_ca": "False"},
        {"agent_verify_ca": "-----BEGIN CERTIFICATE-----\n"},
        {"agent_verify_ca": None},
        {"redfish_system_id": "/redfish/v1/Systems/1"},
        {"deploy_kernel": "http://192.0.2.1/kernel"},
    ],
)
def test_it_leaves_all_else_alone(after: dict[str, Any]) -> None:
    assert trust_path_keys({}, after) == []

"""Secrets are told by their names."""

import pytest

from ironic.core.secrets import REPLACEMENT, is_secret, masked


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "ipmi_password",
        "redfish_password",
        "bmc_password",
        "adminPass",
        "auth_token",
        "agent_secret_token",
        "secret",
        "pull_secret",
        "snmp_auth_key",
        "snmp_priv_key",
        "ipmi_hex_kg_key",
        "private_key",
        "privateKey",
        "ssh_private_key",
        "passphrase",
        "credentials",
        "X-Auth-Token",
    ],
)
def test_it_knows_a_secret_by_its_name(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "ssh_public_key",
        "publicKey",
        "keyboard",
        "monkey",
        "compass",
        "passthru",
        "redfish_address",
        "redfish_username",
        "agent_token_required",
        "serial_number",
        "",
    ],
)
def test_it_leaves_other_names_alone(name: str) -> None:
    assert not is_secret(name)


def test_it_masks_at_any_depth_and_copies() -> None:
    data = {"a": [{"password": "x", "b": {"token": {"deep": 1}}}], "plain": "y"}
    shown = masked(data)
    assert shown == {"a": [{"password": REPLACEMENT, "b": {"token": REPLACEMENT}}], "plain": "y"}
    shown["a"][0]["b"]["new"] = 1
    assert data == {"a": [{"password": "x", "b": {"token": {"deep": 1}}}], "plain": "y"}


@pytest.mark.parametrize("nothing", [None, ""])
def test_it_shows_that_a_secret_is_not_there(nothing: str | None) -> None:
    assert masked({"password": nothing}) == {"password": nothing}

"""Plain data is masked at any depth: by names, by pairs, and inside of texts."""

from typing import Any

import pytest

from ironic.core.secrets.masking import REPLACEMENT, masked, masked_instance_info


def test_it_masks_at_any_depth_and_copies() -> None:
    data = {"a": [{"password": "x", "b": {"token": {"deep": 1}}}], "plain": "y"}
    shown = masked(data)
    assert shown == {"a": [{"password": REPLACEMENT, "b": {"token": REPLACEMENT}}], "plain": "y"}
    shown["a"][0]["b"]["new"] = 1
    assert data == {"a": [{"password": "x", "b": {"token": {"deep": 1}}}], "plain": "y"}


@pytest.mark.parametrize("nothing", [None, "", True, False])
def test_it_shows_that_a_secret_is_not_there(nothing: Any) -> None:
    assert masked({"password": nothing}) == {"password": nothing}
    assert masked({"name": "password", "value": nothing}) == {"name": "password", "value": nothing}


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"name": "AdminPassword", "value": "x"}, {"name": "AdminPassword", "value": REPLACEMENT}),
        ({"Name": "SetupPassword", "CurrentValue": "x"}, {"Name": "SetupPassword", "CurrentValue": REPLACEMENT}),
        ({"attribute": "psk", "new_value": 7}, {"attribute": "psk", "new_value": REPLACEMENT}),
        ({"AttributeName": "UserPin", "Value": 7}, {"AttributeName": "UserPin", "Value": REPLACEMENT}),
        ({"key": "api_key", "value": ["x"]}, {"key": "api_key", "value": REPLACEMENT}),
        ({"name": "hyperthreading", "value": "on"}, {"name": "hyperthreading", "value": "on"}),
        ({"name": "PasswordMinLength", "value": 8}, {"name": "PasswordMinLength", "value": 8}),
        ([["X-Auth-Token", "x"], ["Accept", "y"]], [["X-Auth-Token", REPLACEMENT], ["Accept", "y"]]),
        (["X-Auth-Token: x", "Accept: y"], ["X-Auth-Token: ******", "Accept: y"]),
        ({"url": "https://u:p@h/?sig=x"}, {"url": "https://******@h/?sig=******"}),
        ({"pin": 1234, "pinned": 1}, {"pin": REPLACEMENT, "pinned": 1}),
        (({"user_data": "x"},), [{"user_data": REPLACEMENT}]),
    ],
)
def test_it_knows_pairs_and_texts(data: Any, shown: Any) -> None:
    assert masked(data) == shown
    assert masked({"deep": [data]}) == {"deep": [shown]}


def test_what_an_instance_keeps_to_itself() -> None:
    info = {"configdrive": {"user_data": "x"}, "image_url": "https://h", "image_source": "https://u:p@h", "root_gb": 1}
    shown = {"configdrive": REPLACEMENT, "image_url": REPLACEMENT, "image_source": "https://******@h", "root_gb": 1}
    assert masked_instance_info(info) == shown

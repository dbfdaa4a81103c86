"""A mask that comes back stands for what it hides, or is refused."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.secrets.masking import REPLACEMENT, masked, masked_instance_info
from ironic.core.secrets.secret_updates import restored_secrets

STORED: dict[str, Any] = {
    "address": "a",
    "password": "old",
    "login": {"user": "u", "api_token": {"id": 1}},
    "several": [{"host": "one", "password": "first"}, {"host": "two", "password": "second"}],
    "note": "******",
}


def test_what_was_shown_means_what_is_stored() -> None:
    assert restored_secrets(masked(STORED), STORED, masked) == STORED
    assert restored_secrets(masked(STORED) | {"address": "b"}, STORED, masked) == STORED | {"address": "b"}


@pytest.mark.parametrize("value", [{"a": 1}, [1, "x"], "text", None, 5, {"password": "new"}, {"password": ""}])
def test_what_has_no_mask_stays_as_it_is(value: Any) -> None:
    assert restored_secrets(value, STORED, masked) is value


@pytest.mark.parametrize(
    "given",
    [
        {"other_password": REPLACEMENT},
        {"login": {"password": REPLACEMENT}},
        {"several": [{"host": "two", "password": REPLACEMENT}]},
        {"several": [{"host": "one", "password": REPLACEMENT}, {"host": "evil", "password": REPLACEMENT}]},
        {"moved": {"password": REPLACEMENT}},
        [{"password": REPLACEMENT}],
    ],
)
def test_a_mask_where_nothing_it_could_hide_is_stored_is_refused(given: Any) -> None:
    with pytest.raises(InvalidParameterValue, match="asterisks"):
        restored_secrets(given, STORED, masked)
    with pytest.raises(InvalidParameterValue, match="asterisks"):
        restored_secrets(given, None, masked)


def test_asterisks_where_no_secret_would_be_hidden_are_text() -> None:
    given = {"note": "******", "rating": "******", "list": ["******"]}
    assert restored_secrets(given, STORED, masked) == given


def test_what_is_hidden_whole_comes_back_whole() -> None:
    info = {"image_url": "http://u:p@x", "configdrive": "abc", "capabilities": {}}
    assert restored_secrets(
        masked_instance_info(info) | {"capabilities": {"a": 1}}, info, masked_instance_info
    ) == info | {"capabilities": {"a": 1}}


def test_a_text_of_which_a_part_is_hidden_is_not_changed_around_the_mask() -> None:
    def mask(value: Any) -> Any:
        return {name: text.replace("pw", REPLACEMENT) for name, text in value.items()}

    stored = {"url": "https://u:pw@here"}
    assert restored_secrets({"url": "https://u:******@here"}, stored, mask) == stored
    with pytest.raises(InvalidParameterValue, match="asterisks"):
        restored_secrets({"url": "https://u:******@there"}, stored, mask)


@pytest.mark.parametrize("url", ["https://******@192.0.2.2/x", "https://192.0.2.2/?sig=******"])
def test_a_new_url_has_no_asterisks_in_it(url: str) -> None:
    with pytest.raises(InvalidParameterValue, match="asterisks"):
        restored_secrets({"url": url}, None, masked)

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from ironic.core.texts import syntax

UUID = "abcdef00-0000-4000-8000-000000000001"
MAC = "52:54:00:aa:bb:01"

NONE_OF_ANY: list[Any] = [None, 7, True, [], {}, b"x", ""]

SPELLINGS: list[tuple[Callable[[Any], Any], Any, Any]] = [
    (syntax.uuid_of, UUID, UUID),
    (syntax.uuid_of, UUID.upper(), UUID),
    (syntax.uuid_of, UUID.replace("-", ""), UUID),
    (syntax.uuid_of, f"{{{UUID}}}", None),
    (syntax.uuid_of, f"urn:uuid:{UUID}", None),
    (syntax.uuid_of, f"{UUID}\n", None),
    (syntax.host_in_url, "2001:db8::1", "[2001:db8::1]"),
    (syntax.host_in_url, "bmc.example.org", "bmc.example.org"),
    (syntax.mac_of, MAC.upper(), MAC),
    (syntax.mac_of, MAC.replace(":", "-"), None),
    (syntax.mac_of, f"{MAC}:00", None),
    (syntax.reported_mac_of, "52-54-00-AA-BB-01", MAC),
    (syntax.reported_mac_of, "5254.00AA.BB01", MAC),
    (syntax.reported_mac_of, "525400aabb01", MAC),
    (syntax.reported_mac_of, "52:54:0:aa:bb:1", MAC),
    (syntax.reported_mac_of, "52:54:00:aa:bb", None),
    (syntax.reported_mac_of, f"{MAC}:00:00", None),
    (syntax.reported_mac_of, "52:54:00:aa:bb:0g", None),
    (syntax.reported_mac_of, "5" * 100000, None),
    (syntax.booted_mac_of, "01-52-54-00-AA-BB-01", MAC),
    (syntax.booted_mac_of, "525400AABB01", MAC),
    (syntax.booted_mac_of, "52-54-00-aa-bb-01", MAC),
    (syntax.booted_mac_of, MAC, MAC),
    (syntax.booted_mac_of, "01-54-00-aa-bb-01", "01:54:00:aa:bb:01"),
    (syntax.truth_of, " Yes ", True),
    (syntax.truth_of, "OFF", False),
    (syntax.truth_of, False, False),
    (syntax.truth_of, "perhaps", None),
    (syntax.moment_of, "2026-01-31T10:20:30", datetime(2026, 1, 31, 10, 20, 30)),
    (syntax.moment_of, "2026-01-31T10:20:30+02:00", datetime(2026, 1, 31, 8, 20, 30)),
    (syntax.moment_of, "yesterday", None),
]


@pytest.mark.parametrize(("of", "given", "spelled"), SPELLINGS)
def test_it_returns_the_usual_spelling_or_none(of: Callable[[Any], Any], given: Any, spelled: Any) -> None:
    assert of(given) == spelled


@pytest.mark.parametrize(
    "of", [syntax.uuid_of, syntax.mac_of, syntax.reported_mac_of, syntax.booted_mac_of, syntax.moment_of]
)
@pytest.mark.parametrize("value", NONE_OF_ANY)
def test_any_value_may_be_asked_about(of: Callable[[Any], Any], value: Any) -> None:
    assert of(value) is None


@pytest.mark.parametrize(
    "asks", [syntax.is_uuid, syntax.is_stored_uuid, syntax.is_name, syntax.is_host_name, syntax.is_name_or_uuid]
)
@pytest.mark.parametrize("value", NONE_OF_ANY)
def test_any_value_may_be_judged(asks: Callable[[Any], bool], value: Any) -> None:
    assert asks(value) is False


def test_a_name_is_never_shaped_like_a_uuid() -> None:
    assert syntax.is_name_or_uuid(UUID) and not syntax.is_name(UUID) and not syntax.is_host_name(UUID)
    assert syntax.is_name("a_b~") and not syntax.is_host_name("a_b~")
    # Dashes in other places make no UUID of it.
    assert syntax.is_name("abcdef-00000040008000000000000001")


def test_only_the_usual_spelling_names_files_of_nodes() -> None:
    assert syntax.is_stored_uuid(UUID)
    assert not syntax.is_stored_uuid(UUID.upper()) and not syntax.is_stored_uuid(UUID.replace("-", ""))
    assert syntax.uuids_in(f"data-{UUID.upper()}.json") == [UUID]
    assert syntax.uuids_in(UUID.replace("-", "")) == []


@pytest.mark.parametrize(
    ("url", "usable"),
    [
        ("http://[2001:db8::1]:80/x", True),
        ("https://images.example/a", True),
        ("file:///images/a", True),
        ("file:", False),
        ("ftp://images.example/a", False),
        ("http:///a", False),
        ("http://[2001:db8::1/x", False),
        ("http://images.example:port/", False),
        (None, False),
    ],
)
def test_a_url_has_a_scheme_and_a_place(url: Any, usable: bool) -> None:
    assert (syntax.url_of(url, ("http", "https", "file")) is not None) is usable

"""How identifiers and single words are spelled: one check each, for the API, rules, hooks, drivers and the database.

Functions that return what they were given in its usual spelling return None for what is none. Any Python value may be
passed: documents of machines and users hold everything. Types of values in documents stand on these: `values`.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard
from urllib.parse import SplitResult, urlsplit

LOGICAL_NAME: Final = re.compile(r"[A-Za-z0-9._~-]{1,255}")
HOST_NAME: Final = re.compile(r"(?=.{1,255}\Z)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
                              r"(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*")  # fmt: skip
MAC: Final = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")
_STORED_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

TRUE: Final = frozenset({"1", "t", "true", "on", "y", "yes"})
FALSE: Final = frozenset({"0", "f", "false", "off", "n", "no"})


def is_uuid(value: object) -> TypeGuard[str]:
    """Tell whether a value is a UUID, with or without dashes, in any case."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def uuid_of(value: object) -> str | None:
    """Return a UUID in its usual spelling: lower case, with dashes."""
    if not is_uuid(value):
        return None
    plain = value.replace("-", "").lower()
    return "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))


def is_stored_uuid(value: object) -> TypeGuard[str]:
    """Tell whether a value is a UUID in its usual spelling; files and folders of nodes are named so."""
    return isinstance(value, str) and _STORED_UUID.fullmatch(value) is not None


def uuids_in(text: str) -> list[str]:
    """Return the UUIDs that stand anywhere in a text, in their usual spelling; those without dashes may be digests."""
    return _STORED_UUID.findall(text.lower())


def is_name_or_uuid(value: object) -> TypeGuard[str]:
    """Tell whether a value may name a thing: unreserved characters of RFC 3986, which UUIDs are as well."""
    return isinstance(value, str) and LOGICAL_NAME.fullmatch(value) is not None


def is_name(value: object) -> TypeGuard[str]:
    """Tell whether a value is a logical name; one that looks like a UUID is none."""
    return is_name_or_uuid(value) and not is_uuid(value)


def is_host_name(value: object) -> TypeGuard[str]:
    """Tell whether a value is a host name, which is what names were before 1.10."""
    return isinstance(value, str) and HOST_NAME.fullmatch(value) is not None and not is_uuid(value)


def mac_of(value: object) -> str | None:
    """Return a MAC address in lower case with colons."""
    return value.lower() if isinstance(value, str) and MAC.fullmatch(value) else None


def booted_mac_of(value: object) -> str | None:
    """Return a MAC address from the spellings of boot loaders: with dashes, perhaps the hardware type before it."""
    if not isinstance(value, str):
        return None
    return mac_of((value.removeprefix("01-") if len(value) == len("01-52-54-00-00-00-01") else value).replace("-", ":"))


def truth_of(value: object) -> bool | None:
    """Return what a truth value, or one of the usual words for it in any case, says."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else None
    return True if word in TRUE else False if word in FALSE else None


def moment_of(value: Any) -> datetime | None:
    """Return a moment written in ISO 8601 as naive UTC; without an offset it is UTC already."""
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def url_of(value: object, schemes: Collection[str]) -> SplitResult | None:
    """Return the parts of a URL that has one of the schemes and names a host, or a path where it is that of a file."""
    if not isinstance(value, str):
        return None
    try:
        parts = urlsplit(value)
        place = parts.path if parts.scheme == "file" else parts.hostname
        _ = parts.port  # raises ValueError for what is no number of a port
    except ValueError:
        return None
    return parts if parts.scheme in schemes and place else None

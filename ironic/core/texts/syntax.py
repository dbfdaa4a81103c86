"""The syntax of identifiers, truth values, times, URLs and capabilities, and machine texts on one line.

The checks are shared by the API, rules, hooks, drivers and the database. They accept any Python value, because
documents of machines and users may hold any. Functions that normalize a value return None for one of another syntax.

Capabilities are the text `name:value,name:value` in the properties of a node, written by hooks and rules and read by
schedulers. Their order is kept and each name is there once. Malformed text raises ValueError, so that the entries of an
operator are never dropped silently.
"""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard
from urllib.parse import SplitResult, urlsplit

import netaddr

LOGICAL_NAME: Final = re.compile(r"[A-Za-z0-9._~-]{1,255}")
# Segments that RFC 3986 takes out of a path.
DOTS: Final = (".", "..")
HOST_NAME: Final = re.compile(r"(?=.{1,255}\Z)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
                              r"(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*")  # fmt: skip
MAC: Final = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_LONGEST_MAC: Final = len("52:54:00:00:00:01")

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")
_STORED_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

TRUE: Final = frozenset({"1", "t", "true", "on", "y", "yes"})
FALSE: Final = frozenset({"0", "f", "false", "off", "n", "no"})


def is_uuid(value: object) -> TypeGuard[str]:
    """Return whether a value is a UUID, with or without dashes, in any case."""
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def uuid_of(value: object) -> str | None:
    """Return a UUID in lower case with dashes."""
    if not is_uuid(value):
        return None
    plain = value.replace("-", "").lower()
    return "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))


def is_stored_uuid(value: object) -> TypeGuard[str]:
    """Return whether a value is a UUID in lower case with dashes, which the files and folders of nodes have as name."""
    return isinstance(value, str) and _STORED_UUID.fullmatch(value) is not None


def uuids_in(text: str) -> list[str]:
    """Return the UUIDs in a text, in lower case; words without dashes are left out, because they may be digests."""
    return _STORED_UUID.findall(text.lower())


def is_name_or_uuid(value: object) -> TypeGuard[str]:
    """Return whether a value consists of unreserved characters of RFC 3986, as names and UUIDs do."""
    return isinstance(value, str) and LOGICAL_NAME.fullmatch(value) is not None


def is_name(value: object) -> TypeGuard[str]:
    """Return whether a value is a logical name; a UUID is none."""
    return is_name_or_uuid(value) and not is_uuid(value)


def is_new_name(value: object) -> TypeGuard[str]:
    """Return whether a value may become a name: a logical name that proxies and clients leave in a path."""
    return is_name(value) and value not in DOTS


def is_host_name(value: object) -> TypeGuard[str]:
    """Return whether a value is a host name, the syntax of names before 1.10."""
    return isinstance(value, str) and HOST_NAME.fullmatch(value) is not None and not is_uuid(value)


def host_in_url(host: str) -> str:
    """Return a host as it stands in a URL, before the port: an address of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def mac_of(value: object) -> str | None:
    """Return a MAC address in lower case with colons."""
    return value.lower() if isinstance(value, str) and MAC.fullmatch(value) else None


def reported_mac_of(value: object) -> str | None:
    """Return a MAC address of a BMC or boot loader, which may have dashes, dots or nothing in it, as `mac_of` does."""
    if (plain := mac_of(value)) is not None:
        return plain
    if not isinstance(value, str) or len(value) > _LONGEST_MAC:
        return None
    try:
        return str(netaddr.EUI(value, version=48, dialect=netaddr.mac_unix_expanded))
    except netaddr.AddrFormatError:
        return None


def machine_mac_of(value: object) -> str | None:
    """Return a MAC address that can belong to one network card: neither all zeros nor that of a group of receivers."""
    mac = mac_of(value)
    return None if mac is None or mac == "00:00:00:00:00:00" or int(mac[:2], 16) & 1 else mac


def booted_mac_of(value: object) -> str | None:
    """Return a MAC address from the spellings of boot loaders, which may have the hardware type before it."""
    if isinstance(value, str) and len(value) == len("01-52-54-00-00-00-01"):
        value = value.removeprefix("01-")
    return reported_mac_of(value)


def truth_of(value: object) -> bool | None:
    """Return the truth value of a boolean, or of one of the usual words in any case; None for anything else."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    word = value.strip().lower()
    if word in TRUE:
        return True
    return False if word in FALSE else None


def moment_of(value: Any) -> datetime | None:
    """Return a time in ISO 8601 as naive UTC; without an offset it is UTC already."""
    try:
        return as_utc(datetime.fromisoformat(value))
    except (TypeError, ValueError, OverflowError):  # the last for the first and the last day of all
        return None


def as_utc(value: datetime) -> datetime:
    """Return a time as UTC without a time zone; one without a zone is UTC already."""
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def url_of(value: object, schemes: Collection[str]) -> SplitResult | None:
    """Return the parts of a URL with one of the schemes and a host, or with a path if it is a file URL."""
    if not isinstance(value, str):
        return None
    try:
        parts = urlsplit(value)
        place = parts.path if parts.scheme == "file" else parts.hostname
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        return None
    return parts if parts.scheme in schemes and place else None


def parse_capabilities(text: object) -> dict[str, str]:
    """Return the capabilities in a text; None and empty text have none; raise ValueError for what is no text."""
    if not text:
        return {}
    if not isinstance(text, str):
        raise ValueError("capabilities are text of the form name:value,name:value")
    return dict(_capability(item) for item in text.split(",") if item.strip())


def format_capabilities(capabilities: Mapping[str, str]) -> str:
    """Return capabilities as text."""
    return ",".join(f"{name}:{value}" for name, value in capabilities.items())


def updated_capabilities(text: str | None, changes: Mapping[str, str]) -> str:
    """Return the text with these capabilities set and the others kept."""
    return format_capabilities(parse_capabilities(text) | dict(changes))


def _capability(item: str) -> tuple[str, str]:
    name, colon, value = item.strip().partition(":")
    if not name or not colon:
        raise ValueError(f"capability {item.strip()[:80]!r} is not of the form name:value")
    return name, value


SHORT: Final = 500
_TAG: Final = re.compile(r"<[^<>]{0,200}>")


def one_line(text: str) -> str:
    """Return a text with a space for each character that can't be printed, line breaks included."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def plain_text(said: object, longest: int = SHORT) -> str:
    """Return a text of a machine as one printable line without markup, of at most ``longest`` characters."""
    # Cut first, because it may have megabytes; generously, because markup and repeated blanks are removed.
    text = _TAG.sub(" ", one_line(str(said)[: 4 * longest])).translate({ord("<"): None, ord(">"): None})
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"

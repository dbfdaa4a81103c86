"""The hosts at which driver_info says that the BMC is, and who has chosen them: an operator or a project.

A project's host must not lead to the loopback of a conductor, and its errors say little (`allowed_addresses`). A note
in driver_internal_info lists the keys of driver_info that a project chose; each stays there until an operator writes or
removes that key. Where a host could lead to the loopback, an operator's choice is noted as well: the keys of a node
without a note are from before notes were made, and who chose them is not known. Each stays unknown until it is written,
also where others are written. Inspection rules choose as an operator does, except for a host that a machine reported.
"""

import ipaddress
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ironic.core.addresses.allowed_addresses import AddressPolicy, fault_of
from ironic.core.keys import info_keys
from ironic.core.keys.info_keys import Holds
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.secrets import secret_updates

# True, of an older release, stands for all of them, false for none.
BY_PROJECT: Final = InternalKey(
    "bmc_address_by_project",
    object,
    "The keys of driver_info that a project or a machine has last chosen, and no operator.",
)
UNKNOWN: Final = InternalKey(
    "bmc_address_by_unknown",
    list[str],
    "The keys of driver_info that lead to a BMC and are from before it was noted who chose them, where others are "
    "noted.",
)

_SUFFIX: Final = "_address"
# Of a bridge that is not used.
_DIRECT: Final = ("no", "none", "")


def hosts(driver_info: Mapping[str, object], keys: Collection[str] | None = None) -> list[str]:
    """Return the hosts that driver_info names as addresses of the BMC under these keys; None: under any of its keys."""
    # Behind a bridge it is the address of another machine's BMC.
    bridged = {
        secret_updates.family_of((key,))
        for key, value in driver_info.items()
        if (known := info_keys.of(key)) and known.holds is Holds.BRIDGE and str(value).lower() not in _DIRECT
    }
    named = [
        _host_of(value)
        for key, value in driver_info.items()
        if isinstance(value, str)
        and (names_address(key) if keys is None else key in keys)
        and secret_updates.family_of((key,)) not in bridged
    ]
    return list(dict.fromkeys(host for host in named if host))


def names_address(key: str) -> bool:
    """Return whether a key of driver_info has the address of a BMC, as its driver declares, or its name says."""
    known = info_keys.of(key)
    return key.endswith(_SUFFIX) if known is None else known.holds is Holds.ADDRESS


def is_address(text: str) -> bool:
    """Return whether a text is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def may_reach_loopback(driver_info: Mapping[str, object]) -> bool:
    """Return whether a host of the BMC is a name, which may lead anywhere, or on the loopback."""
    return any(map(_may_be_loopback, _hosts_of_requests(driver_info)))


def _may_be_loopback(host: str) -> bool:
    return not is_address(host) or fault_of(ipaddress.ip_address(host), AddressPolicy()) is not None


def is_by_project(family: str, internal: Mapping[str, object]) -> bool:
    """Return whether a project has chosen one of the keys that begin with ``family``, which say where one BMC is."""
    noted = BY_PROJECT.read(internal)
    if isinstance(noted, list):
        return any(str(key).startswith(family) for key in noted)
    return bool(noted)


def with_chooser(
    internal: Mapping[str, Any],
    before: Mapping[str, object],
    after: Mapping[str, object],
    written: secret_updates.Written,
    *,
    by_project: bool,
    of_report: bool = False,
) -> dict[str, Any]:
    """Return driver_internal_info with the note of who has chosen the host of the BMC, after a change of driver_info.

    A project chooses the keys by which it leads elsewhere, an operator those that he writes, the present values too.
    ``of_report``: what is not ``written`` comes from the report of a machine; where it could lead to the loopback it
    counts as a project's choice.
    """
    noted, unknown = _noted_keys(internal, before), unknown_keys(before, internal)
    if by_project:
        if not (moved := secret_updates.moved_keys(before, after)):
            return dict(internal)
        return _with_note(internal, after, noted | unknown | moved, (), is_judged=True)
    named: dict[str, object] = {}
    for path, value in written:
        if not path and isinstance(value, Mapping):
            named |= value
        elif len(path) == 1:
            named[str(path[0])] = value
    is_noted = BY_PROJECT.read(internal) is not None
    is_judged = is_noted or bool(_hosts_of_requests(named)) or not _hosts_of_requests(after)
    left = _doubtful(unknown - named.keys(), after)
    found = _with_note(internal, after, noted - named.keys(), left, is_judged=is_judged)
    if not of_report:
        return found
    known = {*_hosts_of_requests(before), *_hosts_of_requests({key: after[key] for key in named})}
    reported = {
        key
        for key, value in after.items()
        if any(_may_be_loopback(host) for host in _hosts_of_requests({key: value}) if host not in known)
    }
    if not reported:
        return found
    return _with_note(found, after, _noted_keys(found, after) | reported, left - reported, is_judged=True)


def unknown_keys(driver_info: Mapping[str, object], internal: Mapping[str, object]) -> set[str]:
    """Return the keys that lead to a BMC, maybe on the loopback, and that a project may have chosen before notes."""
    if BY_PROJECT.read(internal) is not None:
        return _doubtful(UNKNOWN.read(internal) or (), driver_info)
    return secret_updates.directing_keys(driver_info) if may_reach_loopback(driver_info) else set()


def as_by_project(driver_info: Mapping[str, object], internal: Mapping[str, Any]) -> dict[str, Any]:
    """Return driver_internal_info in which each key with an unknown chooser counts as chosen by a project."""
    keys = _noted_keys(internal, driver_info) | unknown_keys(driver_info, internal)
    return _with_note(internal, driver_info, keys, (), is_judged=True)


def _doubtful(keys: Iterable[str], driver_info: Mapping[str, object]) -> set[str]:
    """Return those of the keys that are of the family of a host, under one of the keys, that may be on the loopback."""
    present = {key: driver_info[key] for key in keys if key in driver_info}
    families = {secret_updates.family_of((key,)) for key, value in present.items() if may_reach_loopback({key: value})}
    return {key for key in present if secret_updates.family_of((key,)) in families}


def _noted_keys(internal: Mapping[str, object], driver_info: Mapping[str, object]) -> set[str]:
    noted = BY_PROJECT.read(internal)
    if isinstance(noted, list):
        return {str(key) for key in noted}
    return secret_updates.directing_keys(driver_info) if noted else set()


def _with_note(
    internal: Mapping[str, Any],
    driver_info: Mapping[str, object],
    keys: Collection[str],
    unknown: Collection[str],
    *,
    is_judged: bool,
) -> dict[str, Any]:
    """Return driver_internal_info with these keys noted; without any, an operator's choice if it ``is_judged``.

    ``unknown`` are the other keys of which it is not known who chose them.
    """
    found = {key: value for key, value in internal.items() if key != UNKNOWN.name}
    if present := sorted(set(keys) & driver_info.keys()):
        found[BY_PROJECT.name] = present
    elif is_judged:
        found.pop(BY_PROJECT.name, None)
        if may_reach_loopback(driver_info):
            found[BY_PROJECT.name] = False
    if unknown and BY_PROJECT.name in found:
        # Without a note all keys are unknown.
        found[UNKNOWN.name] = sorted(unknown)
    return found


def _hosts_of_requests(driver_info: Mapping[str, object]) -> list[str]:
    """Return the hosts that requests go to, also those of another machine's BMC that bridges them."""
    known = {key: info_keys.of(key) for key in driver_info}
    return hosts({key: driver_info[key] for key, one in known.items() if one is None or one.holds is not Holds.BRIDGE})


def _host_of(value: str) -> str | None:
    """Return the host of a URL or of a bare address, without brackets and port."""
    text = value.strip()
    if is_address(text):
        return text
    try:
        return urlsplit(text if "//" in text else f"//{text}").hostname
    except ValueError:
        return None

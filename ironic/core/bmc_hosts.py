"""The hosts at which driver_info says that the BMC is, and who has chosen them: an operator or a project.

A project's host must not lead to the loopback of a conductor, and its errors say little (`allowed_addresses`). A note
in driver_internal_info says that a project chose it. Where a host could lead to the loopback, an operator's choice is
noted as well: a host without a note is from before notes were made, and who chose it is not known. Inspection rules
choose as an operator does, except for a host that a machine reported.
"""

import ipaddress
from collections.abc import Collection, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ironic.core import secret_updates
from ironic.core.allowed_addresses import AddressPolicy, fault_of

# The key of driver_internal_info: true when a project or a machine, and no operator, has last chosen where the BMC is.
BY_PROJECT: Final = "bmc_address_by_project"

_SUFFIX: Final = "_address"
# Addresses of controllers on IPMB, which are numbers.
_ON_THE_BUS: Final = frozenset({"ipmi_local_address", "ipmi_transit_address", "ipmi_target_address"})


def hosts(driver_info: Mapping[str, object], keys: Collection[str] | None = None) -> list[str]:
    """Return the hosts that driver_info names as addresses of the BMC under these keys; None: under any `*_address`."""
    bridged = str(driver_info.get("ipmi_bridging", "no")).lower() not in ("no", "none", "")
    named = [
        _host_of(value)
        for key, value in driver_info.items()
        if (key.endswith(_SUFFIX) if keys is None else key in keys)
        and isinstance(value, str)
        and key not in _ON_THE_BUS
        # Behind a bridge it is the address of another machine's BMC.
        and not (bridged and key.startswith("ipmi_"))
    ]
    return list(dict.fromkeys(host for host in named if host))


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


def with_chooser(
    internal: Mapping[str, Any],
    before: Mapping[str, object],
    after: Mapping[str, object],
    written: secret_updates.Written,
    *,
    by_project: bool,
) -> dict[str, Any]:
    """Return driver_internal_info with the note of who has chosen the host of the BMC, after a change of driver_info.

    A project chooses it with anything that leads elsewhere, an operator by writing an address, the present one too.
    """
    found = dict(internal)
    if by_project:
        return found | ({BY_PROJECT: True} if secret_updates.moves_bmc(before, after) else {})
    named: dict[str, object] = {}
    for path, value in written:
        if not path and isinstance(value, Mapping):
            named |= value
        elif len(path) == 1:
            named[str(path[0])] = value
    if _hosts_of_requests(named) or not _hosts_of_requests(after):
        found.pop(BY_PROJECT, None)
        if may_reach_loopback(after):
            found[BY_PROJECT] = False
    return found


def with_choice_of_rules(
    internal: Mapping[str, Any], before: Mapping[str, object], after: Mapping[str, object], literal: Collection[str]
) -> dict[str, Any]:
    """Return driver_internal_info with the note, after inspection rules have changed driver_info.

    ``literal`` are the keys that rules have written in their own words: an operator's choice. What they took from the
    report of a machine counts as a project's where it could lead to the loopback.
    """
    known = {*_hosts_of_requests(before), *_hosts_of_requests({key: after[key] for key in literal})}
    if any(_may_be_loopback(host) for host in _hosts_of_requests(after) if host not in known):
        return {**internal, BY_PROJECT: True}
    written = [((key,), after[key]) for key in literal]
    return with_chooser(internal, before, after, written, by_project=False)


def is_unknown(owner: str | None, driver_info: Mapping[str, object], internal: Mapping[str, object]) -> bool:
    """Return whether a project may have chosen the host of the BMC before notes were made."""
    return owner is not None and BY_PROJECT not in internal and may_reach_loopback(driver_info)


def _hosts_of_requests(driver_info: Mapping[str, object]) -> list[str]:
    """Return the hosts that requests go to, also those of another machine's BMC that bridges them."""
    return hosts({key: value for key, value in driver_info.items() if key != "ipmi_bridging"})


def _host_of(value: str) -> str | None:
    """Return the host of a URL or of a bare address, without brackets and port."""
    text = value.strip()
    if is_address(text):
        return text
    try:
        return urlsplit(text if "//" in text else f"//{text}").hostname
    except ValueError:
        return None

"""Which keys of driver_info direct a login, and whether a change would send a stored secret elsewhere.

Told by names, because drivers of third parties bring keys of their own: the keys of one BMC share the part before the
first `_`, its family. A key directs the logins of its family when one of its words is an address, a port, a scheme,
an option of TLS or which machine behind the address is meant, or when its value is an address. A secret whose family
has no such key may go anywhere. Source: doc/contract/drivers.md#names-in-driver_info.
"""

import functools
import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

from ironic.core.secrets import REPLACEMENT, is_secret

Path = tuple[str | int, ...]
# What a caller wrote: where, and which value; in the order of writing.
Written = Sequence[tuple[Path, object]]

_DIRECTING: Final = frozenset(
    (
        *("address", "addr", "host", "hostname", "ip", "ipv4", "ipv6", "url", "uri", "endpoint", "server", "gateway"),
        *("proxy", "portal", "iqn", "port", "scheme", "protocol", "prot", "version", "http", "https", "channel"),
        *("verify", "insecure", "tls", "ssl", "ca", "cacert", "cacerts", "cafile", "capath", "cert", "certs"),
        *("certificate", "cipher", "ciphers", "bridging", "transit", "target", "local"),
        # Which of the machines behind one login: a BMC of several systems, the outlets of a PDU, a chassis of blades.
        *("system", "outlet", "slot", "blade", "chassis", "domain", "machine", "hardware", "profile", "id", "uuid"),
    )
)
# What a login goes to, when it is not the name of a family.
_DESTINATIONS: Final = frozenset({"bmc", "controller"})
# Where a console is offered on the conductor, which no login to the BMC passes.
_UNDIRECTED: Final = frozenset({"terminal", "console"})
# Families that are about the machine's ramdisks and images.
_NO_BMC: Final = frozenset({"agent", "deploy", "image", "kernel", "rescue"})
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP: Final = re.compile(r"[^a-z0-9]+")


def withheld(before: Mapping[str, object], after: Mapping[str, object], written: Written) -> list[str]:
    """Return the stored secrets that a change would send elsewhere without its caller having brought them along.

    Names are those of the first level. A secret that is written anew, or goes, is not sent anywhere.
    """
    known = set(_secrets(before).values())
    brought = _Brought(written)
    staying = [path for path, value in _secrets(after).items() if value in known and path not in brought]
    if not staying:
        return []
    old, new = dict(_leaves(before)), dict(_leaves(after))
    changed = [path for path in dict.fromkeys([*old, *new]) if old.get(path) != new.get(path)]
    directed = {_family(path) for path, value in (*old.items(), *new.items()) if _directs(path, value)}
    moved = {_family(path) for path in changed if _directs(path, old.get(path)) or _directs(path, new.get(path))}
    return sorted({str(path[0]) for path in staying if _is_sent(_family(path), moved, directed)})


def _is_sent(family: str | None, moved: Set[str | None], directed: Set[str | None]) -> bool:
    """Tell whether a secret follows one of the families that lead elsewhere now."""
    if family is None or family not in directed:
        return bool(moved)
    return family in moved or None in moved


def _leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    inner: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        yield path, value
    for key, one in inner:
        yield from _leaves(one, (*path, key))


def _hides(path: Path) -> bool:
    return any(isinstance(key, str) and is_secret(key) for key in path)


def _secrets(document: Mapping[str, object]) -> dict[Path, str]:
    """Return what is secret, as text so that values of all types can be compared."""
    return {path: repr(value) for path, value in _leaves(document) if _hides(path) and value not in (None, "")}


@functools.lru_cache(maxsize=4096)
def _words(key: str | int) -> Sequence[str]:
    return [word for word in _GAP.split(_HUMP.sub("_", str(key)).lower()) if word]


def _family(path: Path) -> str | None:
    """Return what the keys of one BMC share; None: a key without it, which goes with all of them."""
    words = _words(path[0])
    is_one_alone = len(words) == 1 and len(path) == 1
    return None if not words or is_one_alone or words[0] in _DIRECTING else words[0]


def _directs(path: Path, value: object) -> bool:
    words = [word for key in path for word in _words(key)]
    if not words or words[0] in _NO_BMC or not _UNDIRECTED.isdisjoint(words):
        return False
    # "snmp_auth_prot_password" is a password, "acme_token_url" an address though it is hidden.
    named = words[-1:] if _hides(path) else words
    if not _DIRECTING.isdisjoint(named) or not _DESTINATIONS.isdisjoint(words[1:]):
        return True
    return isinstance(value, str) and _is_address(value.strip())


def _is_address(text: str) -> bool:
    if "://" in text or text.startswith("//"):
        return True
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True


class _Brought:
    """The places whose value came from the caller, and was not what is shown in a secret's place."""

    def __init__(self, written: Written) -> None:
        # The last word on a place counts.
        self._last = {where: (at, value) for at, (where, value) in enumerate(written)}

    def __contains__(self, path: Path) -> bool:
        above = [path[:depth] for depth in range(len(path) + 1)]
        found = [(*self._last[where], where) for where in above if where in self._last]
        if not found:
            return False
        _, value, where = max(found, key=lambda one: one[0])
        return not _is_mask(_found(value, path[len(where) :]))


def _is_mask(value: object) -> bool:
    return isinstance(value, str) and value == REPLACEMENT


def _found(value: object, path: Path) -> object:
    """Return what stands at a path; what is shown in the place of a whole object stands in that of each part."""
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key, REPLACEMENT)
        elif isinstance(value, list):
            value = value[key] if isinstance(key, int) and key < len(value) else REPLACEMENT
        else:
            return value
    return value

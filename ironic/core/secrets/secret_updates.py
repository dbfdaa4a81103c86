"""Secrets in updates: masks that clients send back, and changes that would send a stored secret to another address.

Masks (`restored_secrets`): a client that reads an object, changes one key and writes the whole object keeps the
secrets, so a mask stands for the stored secret that it hides. A mask in a changed list is refused, because its position
does not identify a secret, and so is a mask where no secret is stored.

Addresses (`redirected_secrets`): a change of driver_info must not send a stored secret to another address. The keys of
one BMC share the part before the first `_`, their family. Drivers declare which keys direct the logins of their family
(`info_keys`); a key that is not declared, as those of unknown drivers, directs them if one of its words means an
address, a port, a scheme, an option of TLS or a machine behind the address, or if its value is an address. A secret in
a family without such a key may be sent anywhere. Source: doc/contract/drivers.md#names-in-driver_info.

Images (`redirected_image_secrets`): the logins in instance_info, and those for images in driver_info, are for the
servers that instance_info names, and pass the proxies that driver_info names. One project may write the one and another
project the other.

Steps (`redirected_step_secrets`): the secrets in the arguments of a stored step are for that step and the addresses in
its arguments.
"""

import functools
import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final
from urllib.parse import urlsplit

from ironic.core.errors import InvalidParameterValue
from ironic.core.keys import info_keys
from ironic.core.keys.info_keys import Holds
from ironic.core.secrets.masking import REPLACEMENT, is_secret, masked_text

# Put in the place of masks, to find out where a secret would be masked.
_ANY: Final = "any"


def restored_secrets(given: object, stored: object, mask: Callable[[Any], Any]) -> object:
    """Return what a caller sent with the stored secrets in the place of their masks.

    ``mask`` turns stored data into what callers see; ``stored`` is None if nothing is. Raises InvalidParameterValue for
    a mask that stands for no secret.
    """
    if not _has_mask(given):
        return given
    shown = None if stored is None else mask(stored)
    return _restored(given, stored, shown, mask(_without_masks(given)), "")


def _restored(given: object, stored: object, shown: object, hidden: object, key: str) -> object:
    if stored is not None and given == shown:
        return stored
    if isinstance(given, Mapping) and isinstance(hidden, Mapping):
        return {
            name: _restored(one, _inner(stored, name), _inner(shown, name), hidden.get(name), name)
            for name, one in given.items()
        }
    if isinstance(given, list) and isinstance(hidden, list):
        return [_restored(one, None, None, its, key) for one, its in zip(given, hidden, strict=True)]
    if _has_mask(given) and (hidden == REPLACEMENT or stored != shown or "://" in str(given)):
        raise InvalidParameterValue(
            err=f"{key[:80]} has asterisks in the place of a secret that is not stored there. Send the secret itself."
        )
    return given


def _inner(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _has_mask(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_mask, value.values()))
    if isinstance(value, list):
        return any(map(_has_mask, value))
    return isinstance(value, str) and REPLACEMENT in value


def _without_masks(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _without_masks(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_masks(one) for one in value]
    return _ANY if value == REPLACEMENT else value


Path = tuple[str | int, ...]
# The writes of a caller, path and value, in their order.
Written = Sequence[tuple[Path, object]]

_DIRECTING: Final = frozenset(
    (
        *("address", "addr", "host", "hostname", "ip", "ipv4", "ipv6", "url", "uri", "endpoint", "server", "gateway"),
        *("proxy", "portal", "iqn", "port", "scheme", "protocol", "prot", "version", "http", "https", "channel"),
        *("verify", "insecure", "tls", "ssl", "ca", "cacert", "cacerts", "cafile", "capath", "cert", "certs"),
        *("certificate", "cipher", "ciphers", "bridging", "transit", "target", "local"),
        # They select one of several machines behind a login: systems of a BMC, outlets of a PDU, blades of a chassis.
        *("system", "outlet", "slot", "blade", "chassis", "domain", "machine", "hardware", "profile", "id", "uuid"),
    )
)
# Destinations of a login, unless they are the name of a family.
_DESTINATIONS: Final = frozenset({"bmc", "controller"})
# Consoles are offered on the conductor; no login to the BMC uses these.
_UNDIRECTED: Final = frozenset({"terminal", "console"})
# Families of ramdisks and images.
_NO_BMC: Final = frozenset({"agent", "deploy", "image", "kernel", "rescue"})
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP: Final = re.compile(r"[^a-z0-9]+")


def redirected_secrets(before: Mapping[str, object], after: Mapping[str, object], written: Written) -> list[str]:
    """Return the names of stored secrets that a change would send to another address, sorted.

    Names are those of the first level. Secrets that the caller writes along with the change are not among them.
    """
    known = set(_secrets(before).values())
    supplied = _Supplied(written)
    staying = [path for path, value in _secrets(after).items() if value in known and not supplied(path, value)]
    if not staying:
        return []
    old, new = dict(_leaves(before)), dict(_leaves(after))
    changed = [path for path in dict.fromkeys([*old, *new]) if old.get(path) != new.get(path)]
    directed = {family_of(path) for path, value in (*old.items(), *new.items()) if _directs(path, value)}
    moved = {family_of(path) for path in changed if _directs(path, old.get(path)) or _directs(path, new.get(path))}
    return sorted({str(path[0]) for path in staying if _is_sent(family_of(path), moved, directed)})


def refuse_redirected(names: Sequence[str], changed: str) -> None:
    """Raise InvalidParameterValue when there are names of secrets that a change of a field would send elsewhere."""
    if names:
        raise InvalidParameterValue(
            err=f"{changed} would send stored credentials to another address, so they have to be in the same patch: "
            f"{', '.join(names)}."
        )


# The documents of a node that say where images come from.
INSTANCE: Final = "instance_info"
DRIVER: Final = "driver_info"
IMAGE_DOCUMENTS: Final = (INSTANCE, DRIVER)

# Words of keys in instance_info that name a server, or say how far it is trusted.
_IMAGE_PLACES: Final = frozenset(
    (
        *("source", "url", "uri", "address", "host", "hostname", "server", "endpoint", "registry", "repo", "proxy"),
        *("iso", "kernel", "ramdisk", "stage2", "verify", "insecure", "tls", "ssl", "ca", "cacert", "cafile"),
    )
)
# Last words of keys that say who logs in, and not where.
_IDENTITIES: Final = frozenset({"user", "username", "login", "strategy"})
# Secrets of the deployed machine, which no server of images gets, and where the machine gets its settings.
_OF_MACHINE: Final = frozenset({"configdrive", "rescue_password", "hashed_rescue_password"})
# First and last words of the keys of driver_info that lead the requests for an image through another server.
_IMAGE: Final = "image"
_PROXY: Final = "proxy"


def redirected_image_secrets(
    before: Mapping[str, Mapping[str, object]],
    after: Mapping[str, Mapping[str, object]],
    written: Mapping[str, Written],
) -> list[str]:
    """Return the stored secrets that a change would send to another server of images or through another proxy, sorted.

    ``before`` and ``after`` have the `IMAGE_DOCUMENTS` by name, and a secret is named by document and key. Secrets that
    the caller writes along with the change are not among them.
    """
    is_elsewhere = _is_changed(before, after, INSTANCE, _names_image_place)
    is_through_others = _is_changed(before, after, DRIVER, _names_image_proxy)
    former, own = before.get(INSTANCE, {}), after.get(INSTANCE, {})
    has_image = any(value and _names_image_place(path, value) for path, value in _leaves(own))

    def is_of_node(path: Path, value: object) -> bool:
        if not _is_image_secret_of_node(path, value):
            return False
        # One of the instance takes the place of one of the node, until it is removed.
        key = str(path[0])
        return is_through_others or (has_image and not own.get(key) and (is_elsewhere or bool(former.get(key))))

    sent: list[tuple[str, Callable[[Path, object], bool]]] = [(DRIVER, is_of_node)]
    if is_elsewhere or is_through_others:
        sent.append((INSTANCE, _is_image_secret))
    if is_through_others:
        sent.append((INSTANCE, _has_login))
    found = set[str]()
    for name, is_sent in sent:
        known = {repr(value) for path, value in _leaves(before.get(name, {})) if is_sent(path, value)}
        supplied = _Supplied(written.get(name, ()))
        found |= {
            f"{name}/{path[0]}"
            for path, value in _leaves(after.get(name, {}))
            if is_sent(path, value) and repr(value) in known and not supplied(path, repr(value))
        }
    return sorted(found)


def _is_changed(
    before: Mapping[str, Mapping[str, object]],
    after: Mapping[str, Mapping[str, object]],
    name: str,
    directs: Callable[[Path, object], bool],
) -> bool:
    old, new = dict(_leaves(before.get(name, {}))), dict(_leaves(after.get(name, {})))
    changed = (path for path in (*old, *new) if old.get(path) != new.get(path))
    return any(directs(path, old.get(path)) or directs(path, new.get(path)) for path in changed)


def _names_image_place(path: Path, value: object) -> bool:
    words = [word for key in path for word in _words(key)]
    if not words or path[0] in _OF_MACHINE or words[-1] in _IDENTITIES:
        return False
    named = words[-1:] if _hides(path) else words
    return not _IMAGE_PLACES.isdisjoint(named) or (isinstance(value, str) and _is_address(value.strip()))


def _names_image_proxy(path: Path, value: object) -> bool:
    if path and (known := info_keys.of(path[0])) is not None:
        return known.holds is Holds.PROXY
    words = _words(path[0]) if path else ()
    return bool(words) and words[0] == _IMAGE and _PROXY in words


def _is_image_secret(path: Path, value: object) -> bool:
    return value not in (None, "") and bool(path) and path[0] not in _OF_MACHINE and _hides(path)


def _is_image_secret_of_node(path: Path, value: object) -> bool:
    return _is_image_secret(path, value) and _words(path[0])[:1] == [_IMAGE]


def _has_login(path: Path, value: object) -> bool:
    """Return whether a value is a URL with a login or a signature in it."""
    return bool(path) and path[0] not in _OF_MACHINE and isinstance(value, str) and masked_text(value) != value


def redirected_step_secrets(
    before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]], written: Written
) -> list[str]:
    """Return the steps whose arguments would send a stored secret elsewhere after a change of their list, sorted.

    That is to another address, or to another step. Secrets that the caller writes along are not among them.
    """
    old, new = _arguments(before), _arguments(after)
    brought = {repr(leaf) for _, value in written for _, leaf in _leaves(value)}
    known = {value for arguments in old.values() for value in _secrets(arguments).values()} - brought
    return sorted(name for name, arguments in new.items() if _takes_along(old.get(name, {}), arguments, known))


def _arguments(steps: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, object]]:
    return {f"{step['interface']}.{step['step']}": step.get("args") or {} for step in steps}


def _takes_along(old: Mapping[str, object], new: Mapping[str, object], known: Set[str]) -> bool:
    """Return whether the new arguments of a step have a known secret that the old ones lack or sent elsewhere."""
    staying = set(_secrets(new).values()) & known
    if not staying <= set(_secrets(old).values()):
        return True
    places, former = (
        {
            (path, repr(value))
            for path, value in _leaves(one)
            # An argument is not the key of driver_info that has its name.
            if _directs(path, value) or _directs_by_name(path, value) or _names_image_place(path, value)
        }
        for one in (new, old)
    )
    return bool(staying) and places != former


# The key by which a BMC takes images from a share, and the values with which it gets the login of the share.
_TRANSPORT: Final = "vmedia_transport_protocol"
_WITH_LOGIN: Final = frozenset({"CIFS", "SMB"})


def hands_out_share_login(before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Return whether a change of driver_info would send the service's login to a share to another BMC than before."""
    return str(after.get(_TRANSPORT)).upper() in _WITH_LOGIN and bool(moved_keys(before, after))


def directing_keys(document: Mapping[str, object]) -> set[str]:
    """Return the keys of driver_info that say where a BMC is, or how it is reached."""
    return {str(path[0]) for path, value in _leaves(document) if path and _directs(path, value)}


def moved_keys(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """Return the keys by which a change of driver_info leads to another BMC than before, or to it in another way."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    changed = [path for path in (*old, *new) if path and old.get(path) != new.get(path)]
    return {str(path[0]) for path in changed if _directs(path, old.get(path)) or _directs(path, new.get(path))}


def addresses(document: object) -> list[str]:
    """Return the addresses in a document, and the hosts of its URLs, the longest first."""
    found = set[str]()
    for path, value in _leaves(document):
        if isinstance(value, str) and (_is_address(value.strip()) or _names_host(path)):
            found |= {value.strip(), _host(value.strip())}
    return sorted((one for one in found if len(one) >= _SHORTEST), key=len, reverse=True)


# A shorter text than this is part of too many words.
_SHORTEST: Final = 3
_HOSTS: Final = frozenset({"address", "addr", "host", "hostname", "ip", "server", "portal", "endpoint"})


def _names_host(path: Path) -> bool:
    declared = (info_keys.of(key) for key in path)
    if any(known is not None and known.holds is Holds.ADDRESS for known in declared):
        return True
    return bool(path) and not _HOSTS.isdisjoint(_words(path[-1])[-1:])


def _host(address: str) -> str:
    if "//" not in address:
        # With a port, unless the colons are those of an IPv6 address.
        return address.partition(":")[0] if address.count(":") == 1 else ""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_sent(family: str | None, moved: Set[str | None], directed: Set[str | None]) -> bool:
    """Return whether a secret of this family is sent to an address that has changed."""
    if family is None or family not in directed:
        return bool(moved)
    return family in moved or None in moved


def _leaves(document: object) -> Iterator[tuple[Path, object]]:
    left: list[tuple[Path, object]] = [((), document)]
    while left:
        path, value = left.pop()
        inner: list[tuple[str | int, object]]
        if isinstance(value, Mapping):
            inner = list(value.items())
        elif isinstance(value, list):
            inner = list(enumerate(value))
        else:
            yield path, value
            continue
        left += (((*path, key), one) for key, one in reversed(inner))


def _hides(path: Path) -> bool:
    return any(isinstance(key, str) and is_secret(key) for key in path)


def _secrets(document: Mapping[str, object]) -> dict[Path, str]:
    """Return the secrets by path, as text, so that values of all types can be compared."""
    return {path: repr(value) for path, value in _leaves(document) if _hides(path) and value not in (None, "")}


@functools.lru_cache(maxsize=4096)
def _words(key: str | int) -> Sequence[str]:
    return [word for word in _GAP.split(_HUMP.sub("_", str(key)).lower()) if word]


def family_of(path: Path) -> str | None:
    """Return the word that the keys of one BMC share; None for a key without one, which belongs to all families."""
    words = _words(path[0])
    is_single_word = len(words) == 1 and len(path) == 1
    return None if not words or is_single_word or words[0] in _DIRECTING else words[0]


def _directs(path: Path, value: object) -> bool:
    known = info_keys.of(path[0]) if path else None
    if known is not None and known.leads:
        return True
    # What a document or list under another declared key holds is not declared.
    return (known is None or len(path) > 1) and _directs_by_name(path, value)


def _directs_by_name(path: Path, value: object) -> bool:
    words = [word for key in path for word in _words(key)]
    if not words or words[0] in _NO_BMC or not _UNDIRECTED.isdisjoint(words):
        return False
    # "snmp_auth_prot_password" is a password; "acme_token_url" is an address, although it is masked.
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


class _Supplied:
    """Judge whether a caller supplied a value at a path: it is the last that was written there, and no mask.

    A value that another write put there afterwards, such as one that moved the items of a list, was not supplied.
    """

    def __init__(self, written: Written) -> None:
        # The last write to a path counts. In a patch positions are text.
        self._last = {tuple(map(str, where)): (at, value) for at, (where, value) in enumerate(written)}

    def __call__(self, path: Path, value: str) -> bool:
        """``value`` is the present one, as text."""
        keys = tuple(map(str, path))
        above = [keys[:depth] for depth in range(len(keys) + 1)]
        found = [(*self._last[where], where) for where in above if where in self._last]
        if not found:
            return False
        _, written, where = max(found, key=lambda one: one[0])
        return repr(_found(written, keys[len(where) :])) == value


def _found(value: object, keys: Sequence[str]) -> object:
    """Return the value at a path of keys and positions; None where there is none."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list):
            value = value[int(key)] if key.isdecimal() and int(key) < len(value) else None
        else:
            return None
    return value

"""What names files and ports of the conductor's host in documents and driver_info.

Keys of driver_info that may hold the path of a trusted certificate, or the port on which a console is offered, are
declared by their drivers (`info_keys`); those of unknown drivers are recognized by the words of their names.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

from ironic.core.keys import info_keys
from ironic.core.keys.info_keys import TRUSTING, Holds
from ironic.core.texts import syntax

# As urlsplit reads a scheme: case-insensitive, after blanks, ignoring line ends and tabs.
_FILE: Final = re.compile(r"[\x00-\x20]*f[\t\r\n]*i[\t\r\n]*l[\t\r\n]*e[\t\r\n]*:", re.IGNORECASE)
_THIS_HOST: Final = ("", "localhost")


def names_file(value: object) -> bool:
    """Return whether a value is a file URL."""
    return isinstance(value, str) and _FILE.match(value) is not None


def path_in(url: str) -> str | None:
    """Return the absolute path of a file URL on this host; None for other URLs."""
    try:
        parts = urlsplit(url)
        path = unquote(parts.path, errors="surrogateescape")
    except ValueError:
        return None
    is_here = parts.scheme == "file" and parts.netloc in _THIS_HOST
    return path if is_here and path.startswith("/") and "\0" not in path else None


def names_file_anywhere(document: object) -> bool:
    """Return whether a document contains a file URL at any depth."""
    left = [document]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif names_file(one):
            return True
    return False


_WORDS: Final = frozenset(("ca", "cacert", "cacerts", "cafile", "capath", "cert", "certs", "certificate", "verify"))
_GAP: Final = re.compile(r"[^a-z0-9]+")
_PEM: Final = "-----BEGIN "


def trust_path_keys(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return the trust options in driver_info whose new value may be a path, sorted."""
    return sorted(key for key, value in after.items() if value != before.get(key) and _may_be_path(key, value))


_OWN_PORT: Final = re.compile(r"(terminal|console)_port$", re.IGNORECASE)


def own_port_keys(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return the keys in driver_info with a new port on which a conductor shall listen, sorted.

    Who chooses it may take the port of a server that is down for a moment, and answer its clients.
    """
    return sorted(key for key, value in after.items() if value != before.get(key) and _is_own_port(key))


def _is_own_port(key: str) -> bool:
    known = info_keys.of(key)
    return _OWN_PORT.search(key) is not None if known is None else known.holds is Holds.OWN_PORT


def _may_be_path(key: str, value: object) -> bool:
    known = info_keys.of(key)
    names_trust = known.holds in TRUSTING if known else not _WORDS.isdisjoint(_GAP.split(key.lower()))
    if not names_trust or not isinstance(value, str):
        return False
    return bool(value.strip()) and syntax.truth_of(value) is None and not value.startswith(_PEM)

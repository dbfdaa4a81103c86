"""Options in driver_info that say whom to believe, and may do so by the path of a file on the conductor's host.

Told by names, because drivers of third parties bring keys of their own.
"""

import re
from collections.abc import Mapping
from typing import Final

from ironic.core import syntax

_WORDS: Final = frozenset(("ca", "cacert", "cacerts", "cafile", "capath", "cert", "certs", "certificate", "verify"))
_GAP: Final = re.compile(r"[^a-z0-9]+")
_PEM: Final = "-----BEGIN "


def named(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return the keys that a change gives what may be a path."""
    return sorted(key for key, value in after.items() if value != before.get(key) and _may_be_path(key, value))


def _may_be_path(key: str, value: object) -> bool:
    if _WORDS.isdisjoint(_GAP.split(key.lower())) or not isinstance(value, str):
        return False
    return bool(value.strip()) and syntax.truth_of(value) is None and not value.startswith(_PEM)

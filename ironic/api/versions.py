"""Which microversion a request speaks.

Owns the reading of the two request headers; the range served is that of the history, and what a version shows is
decided by the field and route tables. Only minors of major version 1 exist here, so the rest of the package passes a
plain integer around. The header of the service itself loses against the common one. Source:
doc/contract/versions.md#negotiation.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from ironic.api.errors import VersionRefused
from ironic.core import microversions

MINIMUM: Final = microversions.MINIMUM
MAXIMUM: Final = microversions.MAXIMUM

REQUEST_HEADER: Final = "HTTP_X_OPENSTACK_IRONIC_API_VERSION"
COMMON_HEADER: Final = "HTTP_OPENSTACK_API_VERSION"
SERVICE: Final = "baremetal"

_NUMBERS = re.compile(r"(-?[0-9]{1,9})\.(-?[0-9]{1,9})")


def text(minor: int) -> str:
    """Spell a minor version as clients do."""
    return f"1.{minor}"


TEXTS: Final = {one.minor: text(one.minor) for one in microversions.MICROVERSIONS}
_KNOWN: Final = {spelled: minor for minor, spelled in TEXTS.items()}


def asked(environ: Mapping[str, Any]) -> str | None:
    """Return what the headers ask for, or None when neither names this service."""
    for item in environ.get(COMMON_HEADER, "").split(","):
        service, _, version = item.strip().partition(" ")
        if service.lower() == SERVICE:
            return str(version.strip())
    own: str | None = environ.get(REQUEST_HEADER)
    return own


def negotiate(environ: Mapping[str, object]) -> int:
    """Return the minor version of a request; one that is not served is refused with 406."""
    wanted = asked(environ)
    if wanted is None:
        return MINIMUM
    if (minor := _KNOWN.get(wanted.strip())) is not None:
        return minor
    if wanted.strip().lower() == "latest":
        return MAXIMUM
    readable = _NUMBERS.fullmatch(wanted.strip())
    raise VersionRefused(text(MINIMUM), text(MAXIMUM), readable=readable is not None)

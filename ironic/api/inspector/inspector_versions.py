"""The versions of the inspector's API: 1.0 to 1.18, by a header of its own.

Few versions differ in what they answer; clients use the range to see what a service can do. The stock client sends 1.0
with every call, so nothing is refused to an old version. Source:
doc/contract/inspection.md#api-of-the-standalone-inspector.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from ironic.api.error_responses import Headers, Refusal

OLDEST: Final = 0
NEWEST: Final = 18
# First version in which the creation of a rule is a 201.
CREATED_SINCE: Final = 6

HEADER: Final = "X-OpenStack-Ironic-Inspector-API-Version"
_MINIMUM: Final = "X-OpenStack-Ironic-Inspector-API-Minimum-Version"
_MAXIMUM: Final = "X-OpenStack-Ironic-Inspector-API-Maximum-Version"
_REQUEST_HEADER: Final = "HTTP_" + HEADER.upper().replace("-", "_")
# The header that all OpenStack services share.
_COMMON_HEADER: Final = "HTTP_OPENSTACK_API_VERSION"
_SERVICE: Final = "baremetal-introspection"
_NUMBERS: Final = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")


def text(minor: int) -> str:
    """Return a minor version as clients write it."""
    return f"1.{minor}"


RANGE: Final[Headers] = [(_MINIMUM, text(OLDEST)), (_MAXIMUM, text(NEWEST))]


def negotiate(environ: Mapping[str, Any]) -> int:
    """Return the minor version of a request, the newest by default; raises a Refusal (400 or 406)."""
    asked = _asked(environ)
    if asked is None or asked.lower() == "latest":
        return NEWEST
    if (numbers := _NUMBERS.fullmatch(asked)) is None:
        raise Refusal(400, f"{HEADER} has to be two numbers with a dot between them, such as {text(NEWEST)}.", RANGE)
    major, minor = map(int, numbers.groups())
    if major != 1 or minor > NEWEST:
        supported = f"{text(OLDEST)} to {text(NEWEST)}"
        raise Refusal(406, f"This API version is not supported; this service supports versions {supported}.", RANGE)
    return minor


def _asked(environ: Mapping[str, Any]) -> str | None:
    own: str | None = environ.get(_REQUEST_HEADER)
    if own is not None:
        return own.strip()
    for item in environ.get(_COMMON_HEADER, "").split(","):
        service, _, version = item.strip().partition(" ")
        if service.lower() == _SERVICE:
            return str(version.strip())
    return None

"""The microversion of a request, and the first version of each provision verb.

`negotiate` reads the two request headers; the header that all OpenStack services share wins over the service's own. The
range is that of `ironic.core.microversions`; what a version shows is decided by the tables of fields and routes. Only
minor versions of major version 1 exist here, so the rest of the package passes a plain integer. Source:
doc/contract/versions.md#negotiation.

A verb of a provision request, or an argument of it, that is newer than the request is a 406. The versions of flows are
in their records. Source: doc/contract/states.md#verbs and doc/contract/versions.md#what-is-refused-how.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from ironic.api.error_responses import VersionRefused
from ironic.core import microversions
from ironic.core.flows.flow import DEPLOY, FLOWS

MINIMUM: Final = microversions.MINIMUM
MAXIMUM: Final = microversions.MAXIMUM

REQUEST_HEADER: Final = "HTTP_X_OPENSTACK_IRONIC_API_VERSION"
COMMON_HEADER: Final = "HTTP_OPENSTACK_API_VERSION"
SERVICE: Final = "baremetal"

_NUMBERS = re.compile(r"(-?[0-9]{1,9})\.(-?[0-9]{1,9})")


def text(minor: int) -> str:
    """Return a minor version as clients write it."""
    return f"1.{minor}"


TEXTS: Final = {one.minor: text(one.minor) for one in microversions.MICROVERSIONS}
_KNOWN: Final = {spelled: minor for minor, spelled in TEXTS.items()}


def asked(environ: Mapping[str, Any]) -> str | None:
    """Return the version that the headers ask for, None when neither names this service."""
    for item in environ.get(COMMON_HEADER, "").split(","):
        service, _, version = item.strip().partition(" ")
        if service.lower() == SERVICE:
            return str(version.strip())
    own: str | None = environ.get(REQUEST_HEADER)
    return own


def negotiate(environ: Mapping[str, object]) -> int:
    """Return the minor version of a request; raises VersionRefused (406) for one that is not supported."""
    wanted = asked(environ)
    if wanted is None:
        return MINIMUM
    if (minor := _KNOWN.get(wanted.strip())) is not None:
        return minor
    if wanted.strip().lower() == "latest":
        return MAXIMUM
    readable = _NUMBERS.fullmatch(wanted.strip())
    raise VersionRefused(text(MINIMUM), text(MAXIMUM), readable=readable is not None)


_VERBS: Final = [verb for flow in FLOWS for verb in flow.verbs]

# First version of a verb, checked before the state of the node. undeploy never had a check of its own.
VERB_SINCE: Final[Mapping[str, int]] = {
    **{verb.word: verb.since for verb in _VERBS if verb.since > 1 and not verb.is_late},
    "abort": 13,
    "available": 15,
    # Not a verb, but old versions answer it with 406.
    "delete": 73,
}
# First version of a verb, checked only when the state of the node allows the verb.
VERB_SINCE_AFTER_STATE: Final[Mapping[str, int]] = {"unhold": 85} | {
    verb.word: verb.since for verb in _VERBS if verb.is_late
}
ABORT_SINCE: Final[Mapping[str, int]] = {
    flow.waiting: flow.abort_since for flow in FLOWS if flow.waiting and flow.abort_since > 1
}
RAMDISK_SINCE: Final[Mapping[str, int]] = {
    verb.word: since for verb in _VERBS if (since := verb.takes.get("disable_ramdisk")) is not None
}
DEPLOY_STEPS_SINCE: Final = max(verb.takes.get("deploy_steps") or 1 for verb in DEPLOY.verbs)
RUNBOOK_SINCE: Final = 92
# First version in which runbooks have traits, descriptions and any logical name; before, the name was the trait.
RUNBOOK_NAMES_SINCE: Final = 112

"""What the three endpoints for ramdisks have in common: they ask for no credentials, so they tell next to nothing.

Whatever keeps a caller out is answered alike, by one fixed text per status; who the node is and why it was refused
stands in the log. Owns the document that a ramdisk gets about its node and the token it has to show from then on.
Source: facts/steps.yaml, lookup and token_lifetime.
"""

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

from ironic.api import projection
from ironic.api.errors import Refused
from ironic.api.request import Request
from ironic.api.resources import node_writes
from ironic.api.resources.node_fields import Node
from ironic.core.errors import InvalidParameterValue, NodeLocked, NoValidHost
from ironic.core.secrets import REPLACEMENT

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

TOKEN: Final = "agent_secret_token"
# Ramdisks of older versions know no token.
SINCE_TOKEN: Final = 62

_SHOWN: Final = ("uuid", "properties", "instance_info", "driver_internal_info")
_TOKEN_BYTES: Final = 32

# With these the service knows the BMC's address itself, so the ramdisk needn't look for it.
_KNOW_THEIR_BMC: Final = frozenset({"redfish", "idrac-redfish"})


def check_enabled(request: Request) -> None:
    """Refuse ramdisks where the operator does not want any."""
    if not request.settings.enable_ramdisk_endpoints:
        raise Refused(403, "The endpoints for ramdisks are switched off here.")


def admit(request: Request) -> None:
    """Refuse ramdisks that nobody wants, and those that call too often."""
    check_enabled(request)
    limit = request.settings.ramdisk_limit
    if limit is not None and not limit.admits(found := source(request)):
        LOG.warning("%s calls more often than [api]ramdisk_calls_per_minute allows and is turned away", found)
        # Agents come again after a while for a 503, and not for a 429.
        raise Refused(503, "There are too many calls from this address, please retry after a moment.")


def source(request: Request) -> str | None:
    """Return the address a ramdisk calls from; behind a trusted proxy, the one that the proxy itself has seen."""
    environ = request.environ
    if request.settings.proxy_headers and (hops := environ.get("HTTP_X_FORWARDED_FOR")):
        # What stands before the last comma was there when the request came, and may be made up.
        return str(hops).rpartition(",")[2].strip()
    found = environ.get("REMOTE_ADDR")
    return str(found) if found else None


@contextmanager
def discreet() -> Iterator[None]:
    """Keep to themselves what errors say about the node."""
    try:
        yield
    except NodeLocked:
        raise NodeLocked("The node is busy, please retry after a moment.") from None
    except NoValidHost:
        raise InvalidParameterValue(err="No conductor takes care of the node at the moment.") from None


def is_token(shown: str | None, info: Mapping[str, Any]) -> bool:
    """Tell, in constant time, whether a ramdisk shows the token it was given."""
    expected = info.get(TOKEN)
    if not shown or not isinstance(expected, str) or not expected:
        return False
    return compare_digest(shown.encode(), expected.encode())


def hand_out(
    request: Request, uuid: str, judge: "Callable[[NodeRecord], None]", *, again: bool = False
) -> "tuple[str, NodeRecord]":
    """Give a node its token, and return what the ramdisk is told of it: the token once, later only that there is one.

    ``judge`` raises when the node, seen while nobody can change it, is none for ramdisks; ``again`` makes a new token
    although there is one.
    """
    told = REPLACEMENT

    def put(record: "NodeRecord") -> None:
        nonlocal told
        judge(record)
        if again or not record.driver_internal_info.get(TOKEN):
            told = secrets.token_urlsafe(_TOKEN_BYTES)
            record.set_driver_internal_info(TOKEN, told)

    with discreet():
        node = node_writes.when_free(request, uuid, put)
    return told, node


def view(request: Request) -> projection.Projection:
    """Return how a node is shown to its ramdisk."""
    return projection.chosen(Node, request.minor, _SHOWN)


def document(request: Request, node: Any, management_interface: str | None, token: str | None) -> dict[str, Any]:
    """Return what a ramdisk is told: its node, and how to behave."""
    settings = request.settings
    config = settings.ramdisk.document(settings.ramdisk_heartbeat_timeout)
    config |= {"agent_token": token, "agent_skip_bmc_detect": management_interface in _KNOW_THEIR_BMC}
    return {"node": node, "config": config}

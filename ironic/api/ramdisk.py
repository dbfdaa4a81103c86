"""What the three endpoints for ramdisks have in common: they ask for no credentials, so they tell next to nothing.

Whatever keeps a caller out is answered alike, by one fixed text per status; who the node is and why it was refused
stands in the log. Owns the document that a ramdisk gets about its node and the token it has to show from then on.
Source: doc/contract/agent.md#look-up and doc/contract/agent.md#token.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import named_nodes, projection, proxies
from ironic.api.errors import Headers, Refused
from ironic.api.rate_limit import RateLimit
from ironic.api.request import Request
from ironic.api.schema import OPEN, closed
from ironic.core import secrets as secret_values
from ironic.core.agent_memory import READ_BY_AGENTS as _OF_THEIR_MEMORY
from ironic.core.agent_memory import KnownAgent
from ironic.core.callback_urls import are_two_machines
from ironic.core.errors import InvalidParameterValue, NodeLocked, NoValidHost
from ironic.core.model.node import Node
from ironic.core.permit import PERMIT
from ironic.core.secrets import REPLACEMENT
from ironic.services import agent_tokens

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

# Ramdisks of older versions know no token.
SINCE_TOKEN: Final = 62

# What agents read of their node before they get commands, which bring the node along.
READ_BY_AGENTS: Final[Mapping[str, frozenset[str]]] = {
    "instance_info": frozenset({"capabilities", "deploy_boot_mode", "root_device"}),
    "driver_internal_info": _OF_THEIR_MEMORY,
}
# What `document` returns.
TOLD: Final = closed({"node": OPEN, "config": OPEN}, ["node", "config"])
_RETRY_AFTER: Final[Headers] = [("Retry-After", "5")]

# What proxies add; a ramdisk has no reason to.
_OF_PROXIES: Final = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP")

# With these the service knows the BMC's address itself, so the ramdisk needn't look for it.
_KNOW_THEIR_BMC: Final = frozenset({"redfish", "idrac-redfish"})


def check_enabled(request: Request) -> None:
    """Refuse ramdisks where the operator does not want any."""
    if not request.settings.enable_ramdisk_endpoints:
        raise Refused(403, "The endpoints for ramdisks are switched off here.")


def admit(request: Request) -> None:
    """Refuse ramdisks that nobody wants, and those that call too often."""
    check_enabled(request)
    _count(request, request.settings.ramdisk_limit, "ramdisk_calls_per_minute")


def admit_report(request: Request) -> None:
    """Refuse the same, and who posts more reports than a rack of machines has: each may be large."""
    admit(request)
    _count(request, request.settings.report_limit, "inspection_reports_per_minute")


def _count(request: Request, limit: RateLimit | None, option: str) -> None:
    PERMIT.must_not_hurry()
    if limit is not None and not limit.admits(found := source(request)):
        LOG.warning("%s calls more often than [api]%s allows and is turned away", found, option)
        raise too_busy("There are too many calls from this address")


def too_busy(why: str) -> Refused:
    """Return the refusal after which agents come again: they do for a 503, and not for a 429."""
    return Refused(503, f"{why}, please retry after a moment.", _RETRY_AFTER)


def source(request: Request) -> str | None:
    """Return the address a ramdisk calls from."""
    return proxies.client_address(request.environ, trusted=request.settings.proxy_headers)


def sure_source(request: Request) -> str | None:
    """Return the address a ramdisk certainly calls from, None where a proxy in between may have hidden it."""
    is_forwarded = any(name in request.environ for name in _OF_PROXIES)
    return None if is_forwarded and not request.settings.proxy_headers else source(request)


@contextmanager
def discreet() -> Iterator[None]:
    """Keep to themselves what errors say about the node."""
    try:
        yield
    except NodeLocked:
        raise NodeLocked("The node is busy, please retry after a moment.") from None
    except NoValidHost:
        raise InvalidParameterValue(err="No conductor takes care of the node at the moment.") from None


def is_token(shown: str | None, info: Mapping[str, object]) -> bool:
    """Tell, in constant time, whether a ramdisk shows the token it was given."""
    expected = KnownAgent(info).token
    if not shown or not isinstance(expected, str) or not expected:
        return False
    return compare_digest(shown.encode(), expected.encode())


def hand_out(request: Request, uuid: str, judge: "Callable[[NodeRecord], None]") -> "tuple[str, NodeRecord]":
    """Give a node its token, and return what the ramdisk is told of it: the token once, later only that there is one.

    ``judge`` raises when the node, seen while nobody can change it, is none for ramdisks.
    """
    with discreet():
        token, node = agent_tokens.hand_out(
            request.store, uuid, judge, sure_source(request), named_nodes.patience(request)
        )
    if token is None:
        note_repeated(request, node.uuid, node.driver_internal_info)
        return REPLACEMENT, node
    LOG.info("Node %s: its agent token is given to a ramdisk at %s", node.uuid, source(request))
    return token, node


def take_back(request: Request, uuid: str, token: str) -> None:
    """Forget a token that the ramdisk was not told after all, so that it gets one when it comes again."""
    agent_tokens.take_back(request.store, uuid, token, named_nodes.patience(request))


def note_repeated(request: Request, uuid: str, memory: Mapping[str, Any]) -> None:
    """Write it down when a ramdisk asks from elsewhere for what another one was given."""
    given_to = KnownAgent(memory).token_source
    if are_two_machines(source(request), given_to):
        LOG.warning(
            "Node %s: a ramdisk at %s asks for the agent token, which was given to %s. One of the two is not the "
            "node's machine, or it has several addresses.",
            uuid,
            source(request),
            given_to,
        )


def view(request: Request) -> projection.Projection:
    """Return how a node is shown to its ramdisk."""
    return projection.chosen(Node, request.minor, ("uuid", "properties", *READ_BY_AGENTS))


def _read_by_agents(request: Request, name: str, info: object) -> object:
    """Return the keys that agents read, or that the operator has added for hardware managers of the site."""
    wanted = READ_BY_AGENTS[name] | request.settings.ramdisk.extra_keys.get(name, frozenset())
    return {key: value for key, value in info.items() if key in wanted} if isinstance(info, dict) else info


def document(request: Request, node: Any, management_interface: str | None, token: str | None) -> dict[str, Any]:
    """Return what a ramdisk is told: its node, and how to behave."""
    settings = request.settings
    config = settings.ramdisk.document(settings.ramdisk_heartbeat_timeout)
    config |= {"agent_token": token, "agent_skip_bmc_detect": management_interface in _KNOW_THEIR_BMC}
    shown = {name: _read_by_agents(request, name, node[name]) for name in READ_BY_AGENTS}
    # Stored properties are passed on as text where nothing is to be masked; here any caller may be the ramdisk.
    shown["properties"] = secret_values.masked(orjson.loads(orjson.dumps(node["properties"])))
    return {"node": node | shown, "config": config}

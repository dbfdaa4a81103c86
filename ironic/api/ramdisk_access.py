"""Access of ramdisks, which have no credentials: rate limits, the agent token, and the source address of a heartbeat.

Look-up, heartbeat and inspection data share these. Because they need no credentials, a refused request gets one fixed
text per status; the log names the node and the reason. The module also builds the document that a ramdisk gets about
its node, with the token that it has to send from then on. Source: doc/contract/agent.md#look-up and
doc/contract/agent.md#token.

The source address of a heartbeat is compared with the agent's callback address and with the address that the token was
issued to. An agent may have several addresses, so by default a difference is only logged; [agent]callback_source
decides. Behind a proxy the proxy's own address is compared, unless its headers are trusted by configuration.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import named_nodes, projection, rate_limit
from ironic.api.error_responses import RETRY_SOON, Refused
from ironic.api.json_schema import OPEN, closed
from ironic.api.request import Request
from ironic.api.request_limits import too_many_calls
from ironic.core.addresses.agent_callbacks import address_of, are_two_machines
from ironic.core.errors import InvalidParameterValue, NodeLocked, NoValidHost
from ironic.core.hardware_interfaces import with_fact
from ironic.core.memory.agent_memory import READ_BY_AGENTS as _READ_OF_INTERNAL_INFO
from ironic.core.memory.agent_memory import KnownAgent
from ironic.core.model.node import Node
from ironic.core.permit import JUDGED, PERMIT
from ironic.core.secrets import masking as secret_values
from ironic.core.secrets.masking import REPLACEMENT
from ironic.services import agent_tokens

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)


# First version in which ramdisks know tokens.
SINCE_TOKEN: Final = 62

# Keys that agents read of their node before they get commands, which contain the node.
READ_BY_AGENTS: Final[Mapping[str, frozenset[str]]] = {
    "instance_info": frozenset({"capabilities", "deploy_boot_mode", "root_device"}),
    "driver_internal_info": _READ_OF_INTERNAL_INFO,
}
# The schema of `document`.
DOCUMENT_SCHEMA: Final = closed({"node": OPEN, "config": OPEN}, ["node", "config"])

# Headers that proxies add; a ramdisk has no reason to.
_PROXY_HEADERS: Final = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP")


def check_enabled(request: Request) -> None:
    """Raise 403 when [api]enable_ramdisk_endpoints is off."""
    if not request.settings.enable_ramdisk_endpoints:
        raise Refused(403, "The endpoints for ramdisks are disabled.")


def admit(request: Request) -> None:
    """Raise 403 when the endpoints are disabled; `ironic.api.middleware` has counted the call for its address."""
    check_enabled(request)
    PERMIT.check_may_wait()


def admit_report(request: Request) -> None:
    """Do the same for inspection data, which has a rate limit of its own; raises 503 beyond it."""
    admit(request)
    limit = request.settings.report_limit
    if limit is None or JUDGED in request.environ:  # counted when its head was judged
        return
    if not limit.admits(found := source(request)):
        who = f"address {rate_limit.bucket_of(found)}"
        raise too_many_calls(who, "sends more reports than [api]inspection_reports_per_minute allows")


def too_busy(why: str) -> Refused:
    """Return the error after which agents retry: they do so after a 503, but not after a 429."""
    return Refused(503, f"{why}. Try again in a moment.", RETRY_SOON)


def source(request: Request) -> str | None:
    """Return the source address of a ramdisk's request."""
    return rate_limit.client_address(request.environ, trusted=request.settings.proxy_headers)


def sure_source(request: Request) -> str | None:
    """Return the source address of a ramdisk's request, None if an untrusted proxy may have hidden it."""
    is_forwarded = any(name in request.environ for name in _PROXY_HEADERS)
    return None if is_forwarded and not request.settings.proxy_headers else source(request)


@contextmanager
def hide_node_details() -> Iterator[None]:
    """Replace the texts of errors that would reveal details of the node."""
    try:
        yield
    except NodeLocked:
        raise NodeLocked("The node is busy. Try again in a moment.") from None
    except NoValidHost:
        raise InvalidParameterValue(err="No conductor serves the node at the moment.") from None


def is_valid_token(sent: str | None, info: Mapping[str, object]) -> bool:
    """Return, in constant time, whether a ramdisk sent the token that was issued to it."""
    expected = KnownAgent(info).token
    if not sent or not isinstance(expected, str) or not expected:
        return False
    return compare_digest(sent.encode(), expected.encode())


def issue_token(request: Request, uuid: str, check: "Callable[[NodeRecord], None]") -> "tuple[str, NodeRecord]":
    """Issue the node's token and return it with the node; if one was issued before, return a mask in its place.

    ``check`` gets the node while it can't change, and raises an error if the node does not wait for a ramdisk.
    """
    with hide_node_details():
        token, node = agent_tokens.issue(
            request.store, uuid, check, sure_source(request), named_nodes.lock_retries(request)
        )
    if token is None:
        log_repeated_request(request, node.uuid, node.driver_internal_info)
        return REPLACEMENT, node
    LOG.info("Node %s: the agent token was issued to a ramdisk at %s.", node.uuid, source(request))
    return token, node


def revoke_token(request: Request, uuid: str, token: str) -> None:
    """Revoke a token that did not reach the ramdisk, so that its next request gets one."""
    agent_tokens.revoke(request.store, uuid, token, named_nodes.lock_retries(request))


def log_repeated_request(request: Request, uuid: str, memory: Mapping[str, Any]) -> None:
    """Log a request for a token that was issued to another address."""
    issued_to = KnownAgent(memory).token_source
    if are_two_machines(source(request), issued_to):
        request.settings.refusals.note(
            source(request),
            "Node %s: a ramdisk at %s asks for the agent token, which was issued to %s. One of the two is not the "
            "node's machine, or the machine has several addresses.",
            uuid,
            source(request),
            issued_to,
        )


def node_view(request: Request) -> projection.Projection:
    """Return the projection of a node for its ramdisk."""
    return projection.chosen(Node, request.minor, ("uuid", "properties", *READ_BY_AGENTS))


def document(request: Request, node: Any, management_interface: str | None, token: str | None) -> dict[str, Any]:
    """Return the answer to a ramdisk: its node, a document of `node_view`, and the configuration of the agent."""
    settings = request.settings
    config = settings.ramdisk.document(settings.ramdisk_heartbeat_timeout)
    is_known = ("management", management_interface) in with_fact(request.hash_ring.served(), "knows_bmc_address")
    config |= {"agent_token": token, "agent_skip_bmc_detect": is_known}
    shown = {}
    for name, keys in READ_BY_AGENTS.items():
        # Operators add keys for the hardware managers of their site.
        wanted, info = keys | settings.ramdisk.extra_keys.get(name, frozenset()), node[name]
        shown[name] = {key: info[key] for key in info if key in wanted} if isinstance(info, dict) else info
    # Stored JSON without secrets is passed on as text; here every caller may pretend to be the ramdisk.
    shown["properties"] = secret_values.masked(orjson.loads(orjson.dumps(node["properties"])))
    return {"node": node | shown, "config": config}


SOURCE_UNCHECKED: Final = "off"
SOURCE_STRICT: Final = "strict"


def check_heartbeat_source(
    request: Request, uuid: str, host: str | None, memory: Mapping[str, object], *, is_first: bool
) -> None:
    """Log a heartbeat from an unexpected address, the first one of an agent as a warning, or refuse it.

    ``host`` is the host of the callback URL, None without one; ``memory`` is driver_internal_info. Raises
    InvalidParameterValue if [agent]callback_source is "strict".
    """
    mode = request.settings.ramdisk.callback_source
    objection = None if mode == SOURCE_UNCHECKED else _objection(source(request), host, KnownAgent(memory).token_source)
    if objection is None:
        return
    level = logging.WARNING if is_first or mode == SOURCE_STRICT else logging.DEBUG
    LOG.log(
        level,
        "Node %s: a heartbeat %s. If the agent has several addresses or calls through a proxy, see "
        "[agent]callback_source and [oslo_middleware]enable_proxy_headers_parsing.",
        uuid,
        objection,
    )
    if mode == SOURCE_STRICT:
        raise InvalidParameterValue(err="The heartbeat does not come from the known address of its agent.")


def _objection(source: str | None, host: str | None, token_source: str | None) -> str | None:
    """Return the end of the sentence "a heartbeat ...", None for a heartbeat from the expected address."""
    if host is not None and (address_of(host) is None or address_of(host) != address_of(source)):
        return f"from {source or 'an unknown address'} names {host} as the agent's address"
    if are_two_machines(source, token_source):
        return f"comes from {source}, but the agent token was issued to {token_source}"
    return None

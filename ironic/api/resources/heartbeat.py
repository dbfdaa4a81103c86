"""`/v1/heartbeat`: the agent in a ramdisk says that it lives and where it can be reached.

Here it is made sure that the right agent speaks: it has to show the token of its node, and may not change the address
it was first reached at. What its being alive makes possible is decided by the conductor that serves the node.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from ironic.api import answers, heartbeat_source, named_nodes, ramdisk
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery, unknown
from ironic.api.refusing import Refuses
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core import callback_urls, certificates, syntax
from ironic.core.agent_memory import KnownAgent
from ironic.core.callback_urls import CallbackUrl
from ironic.core.errors import InvalidParameterValue, MissingParameterValue, NodeLocked, NodeNotFound
from ironic.core.values import Enum, Text
from ironic.integrations import destinations

LOG = logging.getLogger(__name__)

# Installers send what they have printed last; of what is taken, a few lines are kept.
_LONGEST_MESSAGE: Final = 64 * 1024
# An agent has to hear that its node is gone, or that its token is wrong, before it hears that something is missing.
_ARGUMENTS: Final = BodyOrQuery(
    Argument("callback_url", Text(callback_urls.LONGEST), required=True),
    Argument("agent_token", Text(1024), required=True, missed_late=True),
    Argument("agent_version", Text(), since=36, early=unknown, required=True, missed_late=True),
    Argument("agent_verify_ca", Text(certificates.LONGEST), since=68, early=unknown),
    Argument("agent_status", Enum("start", "end", "error", name="agent status"), since=72, early=unknown),
    Argument("agent_status_message", Text(_LONGEST_MESSAGE), since=72, early=unknown),
)


class _Node(NamedTuple):
    """What is looked at of a node."""

    uuid: str
    driver: str
    conductor_group: str
    driver_internal_info: str | None


def heartbeat(request: Request, node: str, **beat: Any) -> Answer:
    """Take note of an agent's sign of life."""
    found = _node(request, node)
    info = orjson.loads(found.driver_internal_info or "{}")
    _check_token(found.uuid, beat.pop("agent_token", None), info)
    if "agent_version" not in beat:
        raise MissingParameterValue(err="agent_version is required.")
    url = _check_url(request, beat["callback_url"], info)
    known = KnownAgent(info).is_known
    heartbeat_source.check(request, found.uuid, url.host if url else None, info, is_first=not known)
    if "agent_verify_ca" in beat:
        beat["agent_verify_ca"] = _certificates(beat["agent_verify_ca"])
    _tell(request, found, beat, known=known)
    return answers.accepted()


def _node(request: Request, ident: str) -> _Node:
    """Return the node; one that is named and not there is answered like one whose token is not shown.

    UUIDs can't be guessed, and an agent has to hear that its node is gone.
    """
    try:
        return _Node(*named_nodes.row(request, _Node._fields, ident))
    except NodeNotFound:
        if syntax.is_uuid(ident):
            raise
        LOG.warning("A heartbeat for a node named %s is refused: there is none", ident)
        raise _no_token() from None


def _check_token(uuid: str, shown: str | None, info: Mapping[str, object]) -> None:
    if not ramdisk.is_token(shown, info):
        LOG.warning(
            "A heartbeat for node %s is refused: %s. If this is the node's agent, it has to look up its node again.",
            uuid,
            "it shows another token than the node was given" if shown else "it shows no token",
        )
        raise _no_token()


def _no_token() -> InvalidParameterValue:
    return InvalidParameterValue(err="The agent_token is missing, or not the one that was given out.")


def _check_url(request: Request, url: str, info: Mapping[str, object]) -> CallbackUrl | None:
    """Take an address apart, or refuse one that is none, is not safe enough or is not the one the agent had before."""
    known = KnownAgent(info).url
    if known not in (None, "", url):
        raise InvalidParameterValue(err="callback_url is not the one that this agent has announced before.")
    # Without an address it is not the agent that speaks, but an installer that is never called back.
    if url == "":
        return None
    try:
        parsed = CallbackUrl.parse(url)
        _check_address(parsed)
    except ValueError as error:
        raise InvalidParameterValue(err=f"callback_url {error}.") from None
    if request.settings.ramdisk.require_tls and parsed.scheme != "https":
        raise InvalidParameterValue(err="callback_url has to be an https URL here, see [agent]require_tls.")
    return parsed


def _check_address(url: CallbackUrl) -> None:
    """Raise ValueError for an address that is never called; names are judged when they are looked up."""
    address = url.address
    if address is not None and (fault := destinations.fault_at(str(address), url.port)):
        raise ValueError(f"must not lead to {fault}")


def _certificates(text: str) -> str:
    try:
        return certificates.from_pem(text)
    except ValueError as error:
        raise InvalidParameterValue(err=f"agent_verify_ca {error}.") from None


def _tell(request: Request, node: _Node, beat: dict[str, object], *, known: bool) -> None:
    """Hand the heartbeat to the conductor; a node that is busy with a known agent has no need of it now."""
    try:
        with ramdisk.discreet():
            request.conductors.serving(node).heartbeat(request.context, node.uuid, beat)
    except NodeLocked:
        if not known:
            raise
        LOG.debug("Node %s: a heartbeat came while the node was locked and is passed over", node.uuid)


_RULE: Final = "baremetal:node:ipa_heartbeat"

_NOBODY = Refuses(
    lambda: MissingParameterValue(err="This needs a node's UUID or name in the path."), first=ramdisk.check_enabled
)
ROUTES = (
    Route("POST", "/v1/heartbeat", _NOBODY, since=22, shape=FAULT, rule=_RULE),
    Route(
        "POST",
        "/v1/heartbeat/{agent_node}",
        heartbeat,
        since=22,
        shape=FAULT,
        rule=_RULE,
        public=True,
        first=ramdisk.admit,
        body=_ARGUMENTS,
        ok=202,
    ),
)

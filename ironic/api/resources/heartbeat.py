"""`/v1/heartbeat`: the agent in a ramdisk reports that it is alive and where it can be reached.

The API verifies the agent: it has to send the token of its node, and may not change the callback URL of its first
heartbeat. What the heartbeat leads to is decided by the conductor that serves the node.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from ironic.api import answers, named_nodes, ramdisk_access
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery, unknown
from ironic.api.request import Request
from ironic.api.routes import FAULT, Refusing, Route
from ironic.core.addresses import agent_callbacks
from ironic.core.addresses.agent_callbacks import CallbackUrl
from ironic.core.errors import InvalidParameterValue, MissingParameterValue, NodeLocked, NodeNotFound
from ironic.core.memory.agent_memory import KnownAgent
from ironic.core.texts import syntax
from ironic.core.values.value_types import Enum, Text
from ironic.integrations import allowed_destinations

LOG = logging.getLogger(__name__)

# Installers send the last lines of their output, of which a few are stored.
_LONGEST_MESSAGE: Final = 64 * 1024
# A missing node or a wrong token is refused before a missing argument.
_ARGUMENTS: Final = BodyOrQuery(
    Argument("callback_url", Text(agent_callbacks.LONGEST_URL), required=True),
    Argument("agent_token", Text(1024), required=True, handler_requires=True),
    Argument("agent_version", Text(), since=36, too_new=unknown, required=True, handler_requires=True),
    Argument("agent_verify_ca", Text(agent_callbacks.LONGEST_CERTIFICATES), since=68, too_new=unknown),
    Argument("agent_status", Enum("start", "end", "error", name="agent status"), since=72, too_new=unknown),
    Argument("agent_status_message", Text(_LONGEST_MESSAGE), since=72, too_new=unknown),
)


class _Node(NamedTuple):
    """The columns of a node that a heartbeat needs."""

    uuid: str
    driver: str
    conductor_group: str
    driver_internal_info: str | None


def heartbeat(request: Request, node: str, **beat: Any) -> Answer:
    """Report that the agent of a node is alive."""
    found = _verified_node(request, node, beat.pop("agent_token", None))
    info = orjson.loads(found.driver_internal_info or "{}")
    if "agent_version" not in beat:
        raise MissingParameterValue(err="agent_version is required.")
    url = _checked_url(request, beat["callback_url"], info)
    is_known = KnownAgent(info).is_known
    ramdisk_access.check_heartbeat_source(request, found.uuid, url.host if url else None, info, is_first=not is_known)
    if "agent_verify_ca" in beat:
        try:
            beat["agent_verify_ca"] = agent_callbacks.certificates_from_pem(beat["agent_verify_ca"])
        except ValueError as error:
            raise InvalidParameterValue(err=f"agent_verify_ca {error}.") from None
    try:
        with ramdisk_access.hide_node_details():
            request.conductors.serving(found).heartbeat(request.context, found.uuid, beat)
    except NodeLocked:
        # A known agent sends further heartbeats; the operation that has locked the node does not need this one.
        if not is_known:
            raise
        LOG.debug("Node %s: a heartbeat is ignored because the node is locked.", found.uuid)
    return answers.accepted()


def _verified_node(request: Request, ident: str, token: str | None) -> _Node:
    """Return the node of a heartbeat with the right token; raises InvalidParameterValue for a wrong one.

    A node that does not exist raises NodeNotFound if it is named by its UUID, so that an agent learns that its node is
    gone. Names can be guessed, so a wrong name gets the answer to a wrong token.
    """
    no_token = InvalidParameterValue(err="The agent_token is missing, or is not the one that was issued.")
    try:
        found = _Node(*named_nodes.row(request, _Node._fields, ident))
    except NodeNotFound:
        if syntax.is_uuid(ident):
            raise
        _note(request, "A heartbeat for node %s is refused: no node has this name.", ident)
        raise no_token from None
    if not ramdisk_access.is_valid_token(token, orjson.loads(found.driver_internal_info or "{}")):
        _note(
            request,
            "A heartbeat for node %s is refused: %s. If it is from the agent of this node, restart the agent.",
            found.uuid,
            "its token is not the one that was issued" if token else "it has no token",
        )
        raise no_token
    return found


def _note(request: Request, text: str, *values: object) -> None:
    request.settings.refusals.note(ramdisk_access.source(request), text, *values)


def _checked_url(request: Request, url: str, info: Mapping[str, object]) -> CallbackUrl | None:
    """Return the parsed callback URL, None for an empty one; raises InvalidParameterValue.

    The URL must be the agent's first one, and must not lead to a forbidden destination; host names are checked when
    they are resolved.
    """
    known = KnownAgent(info).url
    if known not in (None, "", url):
        raise InvalidParameterValue(err="callback_url is not the one that this agent has announced before.")
    # A heartbeat without a URL is from an installer, which is never called back.
    if url == "":
        return None
    try:
        parsed = CallbackUrl.parse(url)
        address = parsed.address
        if address is not None and (fault := allowed_destinations.fault_at(str(address), parsed.port)):
            raise ValueError(f"must not lead to {fault}")
    except ValueError as error:
        raise InvalidParameterValue(err=f"callback_url {error}.") from None
    if request.settings.ramdisk.require_tls and parsed.scheme != "https":
        raise InvalidParameterValue(err="callback_url has to be an https URL here, see [agent]require_tls.")
    return parsed


_ALL: Final = "/v1/heartbeat"
_RULE: Final = "baremetal:node:ipa_heartbeat"
_NO_IDENT: Final = Refusing(
    lambda: MissingParameterValue(err="This request needs the UUID or name of a node in the path."),
    precheck=ramdisk_access.check_enabled,
)

ROUTES = (
    Route("POST", _ALL, _NO_IDENT, since=22, shape=FAULT, rule=_RULE),
    Route(
        "POST",
        f"{_ALL}/{{agent_node}}",
        heartbeat,
        since=22,
        shape=FAULT,
        rule=_RULE,
        public=True,
        of_ramdisks=True,
        precheck=ramdisk_access.admit,
        body=_ARGUMENTS,
        ok=202,
    ),
)

"""`/v1/heartbeat`: the agent in a ramdisk says that it lives and where it can be reached.

Here it is made sure that the right agent speaks: it has to show the token of its node, and may not change the address
it was first reached at. What its being alive makes possible is decided by the conductor that serves the node.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import orjson

from ironic.api import answers, input
from ironic.api.answers import Answer
from ironic.api.input import Types
from ironic.api.refusing import Refuses
from ironic.api.request import Request
from ironic.api.resources import node_idents, ramdisk
from ironic.api.routes import FAULT, Route
from ironic.api.types import Enum, Text
from ironic.core.errors import InvalidParameterValue, MissingParameterValue, NodeLocked

LOG = logging.getLogger(__name__)

_REQUIRED: Final[Types] = (("callback_url", Text(2048)),)
_ALWAYS: Final[Types] = (("agent_token", Text(1024)),)
# Arguments that came later, with the first version that takes them.
_LATER: Final = (
    (36, ("agent_version", Text())),
    (68, ("agent_verify_ca", Text(None))),
    (72, ("agent_status", Enum("start", "end", "error", name="agent status"))),
    (72, ("agent_status_message", Text(None))),
)
_AGENT_URL: Final = "agent_url"


class _Node(NamedTuple):
    """What is looked at of a node."""

    uuid: str
    driver: str
    conductor_group: str
    driver_internal_info: str | None


def heartbeat(request: Request, node: str) -> Answer:
    """Take note of an agent's sign of life."""
    ramdisk.check_enabled(request)
    beat = input.arguments(request.arguments(), _ALWAYS + _later(request.minor), _REQUIRED)
    found = _Node(*node_idents.row(request, _Node._fields, node))
    info = orjson.loads(found.driver_internal_info or "{}")
    _check_token(found.uuid, beat.pop("agent_token", None), info)
    if "agent_version" not in beat:
        raise MissingParameterValue(err="agent_version is required.")
    _check_url(beat["callback_url"], info, require_tls=request.settings.ramdisk.require_tls)
    _tell(request, found, beat, known=bool(info.get(_AGENT_URL)))
    return answers.accepted()


def _later(minor: int) -> Types:
    return tuple(argument for since, argument in _LATER if since <= minor)


def _check_token(uuid: str, shown: str | None, info: Mapping[str, Any]) -> None:
    if not ramdisk.is_token(shown, info):
        LOG.warning(
            "A heartbeat for node %s is refused: %s. If this is the node's agent, it has to look up its node again.",
            uuid,
            "it shows another token than the node was given" if shown else "it shows no token",
        )
        raise InvalidParameterValue(err="The agent_token is missing, or not the one that was given out.")


def _check_url(url: str, info: Mapping[str, Any], *, require_tls: bool) -> None:
    """Refuse an address that is none, is not safe enough or is not the one the agent had before."""
    if info.get(_AGENT_URL) not in (None, "", url):
        raise InvalidParameterValue(err="callback_url is not the one that this agent has announced before.")
    # Without an address it is not the agent that speaks, but an installer that is never called back.
    if url == "":
        return
    scheme = _scheme(url)
    if scheme not in ("http", "https"):
        raise InvalidParameterValue(err="callback_url has to be an http or https URL with a host.")
    if require_tls and scheme != "https":
        raise InvalidParameterValue(err="callback_url has to be an https URL here, see [agent]require_tls.")


def _scheme(url: str) -> str | None:
    """Return the scheme of a URL that has a host, None for anything else."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts.scheme if usable else None


def _tell(request: Request, node: _Node, beat: dict[str, Any], *, known: bool) -> None:
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
    Route("POST", "/v1/heartbeat/{agent_node}", heartbeat, since=22, shape=FAULT, rule=_RULE, public=True),
)

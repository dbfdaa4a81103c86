"""One call of an agent over HTTP: sent, repeated when that is safe, read, and its failures said in our words.

A connection that could not be made is tried again. Once a command has gone out its answer is waited for, and it is
sent again only if it merely asks: an order that the agent may have heard is never repeated. Where it may not be called,
because of what its address means here, is judged by the one client for such calls, with each call. The token travels in
the query, as the agent wants it, so no address is ever quoted.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

import orjson

from ironic.conf import CONF
from ironic.core.agent_errors import (
    AgentAPIError,
    AgentCommandTimeout,
    AgentConnectionFailed,
    AgentInProgress,
    AgentNotCalled,
)
from ironic.core.plain_text import plain
from ironic.drivers.modules.agent.access import Access
from ironic.drivers.waiting import retrying
from ironic.integrations import outgoing

LOG = logging.getLogger(__name__)

# Logs of a ramdisk come in one answer; what is longer is no answer of an agent.
_LONGEST: Final = 64 * 1024 * 1024
# A call takes at most so many times what one wait may take, however slowly an agent speaks.
_MOST_WAITS: Final = 10
_SECONDS_BETWEEN: Final = 0.5
_HEADERS: Final = {"Accept": "application/json", "Content-Type": "application/json"}


class _Lost(Exception):
    """The connection broke after the call had gone out."""


def call(
    access: Access, command: str, method: str, path: str, *, query: dict[str, str], body: object, asks: bool
) -> Mapping[str, object]:
    """Call the agent and return its answer; ``asks`` says that the call changes nothing and may be repeated."""
    payload = None if body is None else orjson.dumps(body)
    target = f"{path}?{urlencode(_with_token(access, query))}"
    repeated = retrying(
        CONF.agent.max_command_attempts,
        _SECONDS_BETWEEN,
        lambda error: isinstance(error, (AgentConnectionFailed, _Lost) if asks else AgentConnectionFailed),
        lambda error: LOG.info("Node %s: %s; trying again", access.node, error),
    )
    try:
        return repeated(_once, access, command, method, target, payload)
    except _Lost as error:
        raise AgentCommandTimeout(node=access.node, command=command) from error


def _with_token(access: Access, query: dict[str, str]) -> dict[str, str]:
    return {**query, "agent_token": access.token} if access.token else query


def _once(access: Access, command: str, method: str, target: str, payload: bytes | None) -> Mapping[str, object]:
    timeout = CONF.agent.command_timeout
    terms = outgoing.Terms(
        tls=access.tls,
        seconds=_MOST_WAITS * timeout,
        idle_seconds=timeout,
        most_bytes=_LONGEST,
        follows_redirects=False,
    )
    # Of what an older service may have stored, only the server counts.
    url = f"{access.url.scheme}://{access.url.netloc.rpartition('@')[2]}{target}"
    try:
        with outgoing.send(method, url, terms, _HEADERS, payload) as answer:
            return _read(access, command, answer.status, answer.read())
    except outgoing.NotAllowed as error:
        raise AgentNotCalled(node=access.node, command=command, reason=str(error)) from error
    except outgoing.NotConnected as error:
        raise AgentConnectionFailed(node=access.node, command=command, reason=str(error)) from error
    except outgoing.TooLarge as error:
        raise AgentAPIError(node=access.node, command=command, status=answer.status, error=str(error)) from error
    except outgoing.BrokenOff as error:
        raise _Lost(f"the agent's answer to {command} was lost ({error})") from error


def _read(access: Access, command: str, status: int, content: bytes) -> Mapping[str, object]:
    """Return the document that came back, or raise what it means."""
    document = _parsed(content)
    if status == HTTPStatus.CONFLICT:
        raise AgentInProgress(node=access.node, command=command, status=status, error=_said(document))
    if status >= HTTPStatus.BAD_REQUEST:
        raise AgentAPIError(node=access.node, command=command, status=status, error=_said(document))
    if not isinstance(document, dict):
        raise AgentAPIError(node=access.node, command=command, status=status, error="the answer is no JSON object")
    return document


def _parsed(content: bytes) -> object:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def _said(document: object) -> str:
    said = document.get("faultstring") if isinstance(document, dict) else None
    return plain(said) if said else "it does not say why"

"""One call of an agent over HTTP: sent, repeated when that is safe, read, and its failures said in our words.

A connection that could not be made is tried again. Once a command has gone out its answer is waited for, and it is
sent again only if it merely asks: an order that the agent may have heard is never repeated. The token travels in the
query, as the agent wants it, so no address is ever quoted.
"""

import http.client
import logging
import ssl
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from ironic.conf import CONF
from ironic.core.agent_errors import (
    AgentAPIError,
    AgentCommandTimeout,
    AgentConnectionFailed,
    AgentInProgress,
)
from ironic.drivers.modules.agent.access import Access
from ironic.drivers.waiting import pause

LOG = logging.getLogger(__name__)

# Logs of a ramdisk come in one answer; what is longer is no answer of an agent.
_LONGEST: Final = 256 * 1024 * 1024
_SECONDS_BETWEEN: Final = 0.5
_HEADERS: Final = {"Accept": "application/json", "Content-Type": "application/json"}


class _Lost(Exception):
    """The connection broke after the call had gone out."""


def call(access: Access, command: str, method: str, path: str, *, query: dict[str, str], body: Any, asks: bool) -> Any:
    """Call the agent and return its answer; ``asks`` says that the call changes nothing and may be repeated."""
    payload = None if body is None else orjson.dumps(body)
    target = f"{access.url.path.rstrip('/')}{path}?{urlencode(_with_token(access, query))}"
    for left in reversed(range(CONF.agent.max_command_attempts)):
        try:
            return _once(access, command, method, target, payload)
        except AgentConnectionFailed as error:
            if not left or not pause(_SECONDS_BETWEEN):
                raise
            LOG.info("Node %s: %s; trying again", access.node, error)
        except _Lost as error:
            if not asks or not left or not pause(_SECONDS_BETWEEN):
                raise AgentCommandTimeout(node=access.node, command=command) from error
            LOG.info("Node %s: the agent's answer to %s was lost (%s); asking again", access.node, command, error)
    raise AssertionError("there is at least one attempt")


def _with_token(access: Access, query: dict[str, str]) -> dict[str, str]:
    return {**query, "agent_token": access.token} if access.token else query


def _once(access: Access, command: str, method: str, target: str, payload: bytes | None) -> Any:
    connection = _connection(access)
    try:
        _connect(connection, access, command)
        try:
            connection.request(method, target, body=payload, headers=_HEADERS)
            response = connection.getresponse()
            content = response.read(_LONGEST)
        except (OSError, http.client.HTTPException) as error:
            raise _Lost(type(error).__name__) from error
    finally:
        connection.close()
    return _read(access, command, response.status, content)


def _connection(access: Access) -> http.client.HTTPConnection:
    host, port, timeout = access.url.hostname or "", access.url.port, CONF.agent.command_timeout
    context = access.tls()
    if context is None:
        return http.client.HTTPConnection(host, port, timeout=timeout)
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)


def _connect(connection: http.client.HTTPConnection, access: Access, command: str) -> None:
    try:
        connection.connect()
    except ssl.SSLCertVerificationError as error:
        reason = f"its certificate is not to be believed ({error.verify_message})"
        raise AgentConnectionFailed(node=access.node, command=command, reason=reason) from error
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise AgentConnectionFailed(node=access.node, command=command, reason=reason) from error


def _read(access: Access, command: str, status: int, content: bytes) -> Any:
    """Return the document that came back, or raise what it means."""
    document = _parsed(content)
    if status == http.HTTPStatus.CONFLICT:
        raise AgentInProgress(node=access.node, command=command, status=status, error=_said(document))
    if status >= http.HTTPStatus.BAD_REQUEST:
        raise AgentAPIError(node=access.node, command=command, status=status, error=_said(document))
    if not isinstance(document, dict):
        raise AgentAPIError(node=access.node, command=command, status=status, error="the answer is no JSON object")
    return document


def _parsed(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def _said(document: Any) -> str:
    said = document.get("faultstring") if isinstance(document, dict) else None
    return str(said)[:1000] if said else "it does not say why"

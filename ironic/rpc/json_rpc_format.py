"""The bytes of a call by JSON-RPC 2.0: requests as conductors read them, and answers as callers do.

A request is ``{"jsonrpc": "2.0", "method": call, "params": {"arguments", "context", "envelope"}, "id"}``. Its answer
has ``result``, or ``error`` with ``code``, ``message`` and ``data``; for an error of the service the code is its HTTP
status and the data are its classes and facts. Beside them is ``clock``, the time of the conductor. White space in front
of an answer is a sign of life.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

JSON: Final = "application/json"
SIGN_OF_LIFE: Final = b" "

_VERSION: Final = "2.0"
_NO_JSON, _NO_REQUEST, _NO_PARAMS = -32700, -32600, -32602
_NO_STATUS: Final = 500


class BadRequest(Exception):
    """A request that is no call; arguments: code of JSON-RPC, reason, id of the request."""


class Request(NamedTuple):
    """A call that has arrived."""

    name: str
    arguments: Mapping[str, Any]
    context: Mapping[str, Any]
    envelope: Mapping[str, Any]
    id: object


def request(context: Mapping[str, Any], message: Mapping[str, Any], request_id: object) -> bytes:
    """Return the body of a call."""
    params = {"context": context, "arguments": message["arguments"], "envelope": message.get("envelope", {})}
    return orjson.dumps({"jsonrpc": _VERSION, "method": message["name"], "params": params, "id": request_id})


def read_request(body: bytes) -> Request:
    """Return the call in a body; raises BadRequest."""
    try:
        # Its depth is bounded: the parser refuses what is nested deeper than 1,024 levels.
        read = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise BadRequest(_NO_JSON, "the body is no JSON", None) from None
    if not isinstance(read, dict) or read.get("jsonrpc") != _VERSION or not isinstance(read.get("method"), str):
        raise BadRequest(_NO_REQUEST, "the body is no request of JSON-RPC 2.0; lists of them are not taken", None)
    params = read.get("params")
    if not isinstance(params, dict):
        raise BadRequest(_NO_PARAMS, "params is no object", None)
    arguments, context, envelope = (params.get(name, {}) for name in ("arguments", "context", "envelope"))
    if not isinstance(read.get("id"), str | int | float | None):
        raise BadRequest(_NO_REQUEST, "the id is neither a text nor a number", None)
    if not all(isinstance(part, dict) for part in (arguments, context, envelope)):
        raise BadRequest(_NO_PARAMS, "arguments, context and envelope have to be objects", read.get("id"))
    return Request(read["method"], arguments, context, envelope, read.get("id"))


def answer(message: Mapping[str, Any], request_id: object, clock: float) -> bytes:
    """Return the body of an answer, from a message of `message_format`."""
    if (error := message.get("error")) is None:
        outcome: dict[str, object] = {"result": message["result"]}
    else:
        data = {"classes": error["classes"], "facts": error["facts"]}
        outcome = {"error": {"code": error["status"], "message": error["message"], "data": data}}
    return orjson.dumps({"jsonrpc": _VERSION, **outcome, "id": request_id, "clock": clock})


def is_refusal(body: bytes, status: int) -> bool:
    """Return whether a body is that of a conductor that has not read the request; others may have handed it on."""
    try:
        read = orjson.loads(body)
    except orjson.JSONDecodeError:
        # Larger bodies and malformed heads are refused in plain text, by the server of a conductor or one before it.
        return status in (413, 429, 401, 400)
    error = read.get("error") if isinstance(read, dict) else None
    return isinstance(error, dict) and error.get("code") == status


def refusal(bad: BadRequest) -> bytes:
    """Return the body of an answer to what is no call."""
    code, reason, request_id = bad.args
    return orjson.dumps({"jsonrpc": _VERSION, "error": {"code": code, "message": reason}, "id": request_id})


def read_answer(body: bytes) -> dict[str, Any]:
    """Return the message of `message_format` in an answer; raises ValueError for what is none."""
    read = orjson.loads(body)
    if not isinstance(read, dict):
        raise ValueError("it is no object")
    message = {"clock": read["clock"]} if isinstance(read.get("clock"), int | float) else {}
    if (error := read.get("error")) is None:
        return message | {"result": read.get("result")}
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        raise ValueError("its error has no message")
    data, status = error.get("data"), error.get("code")
    # What answers may be no conductor.
    classes = _part(data, "classes", list)
    known = {
        "classes": [one for one in classes if isinstance(one, str)] if isinstance(classes, list) else [],
        "facts": _part(data, "facts", dict) or {},
        "status": status if isinstance(status, int) and status > 0 else _NO_STATUS,
        "message": error["message"],
    }
    return message | {"error": known}


def _part(data: object, name: str, kind: type) -> object:
    """Return a part of the data of an error if it is there and of its kind."""
    part = data.get(name) if isinstance(data, dict) else None
    return part if isinstance(part, kind) else None

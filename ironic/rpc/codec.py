"""How values and errors look between a caller and a conductor.

Values are plain JSON; ``copied`` gives a value the shape it has on the other side, sharing nothing. An error crosses
as its class and families, HTTP status, message and facts, never with a traceback, and comes back as the nearest class
that this side knows. An answer is an envelope with either a result or an error.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from ironic.core.errors import IronicError, all_errors


def copied(value: object) -> Any:
    """Return the value as it arrives on the other side; TypeError if it can't travel."""
    return orjson.loads(orjson.dumps(value))


def result(value: object) -> dict[str, object]:
    """Return the envelope of a result."""
    return {"result": value}


def failure(error: IronicError) -> dict[str, object]:
    """Return the envelope of an error; facts that are no JSON travel as text."""
    families = [cls.__name__ for cls in type(error).__mro__ if issubclass(cls, IronicError)]
    told = {"classes": families, "status": error.status, "message": _text(error.message), "facts": _plain(error.facts)}
    return {"error": told}


def _plain(facts: Mapping[str, object]) -> dict[str, object]:
    """Return facts as JSON; those that are none travel as text, so that an error always gets through."""
    try:
        plain: dict[str, object] = orjson.loads(orjson.dumps(facts, default=str, option=orjson.OPT_NON_STR_KEYS))
    except TypeError:
        plain = {key: _text(str(value)) for key, value in facts.items()}
    return plain


def _text(text: str) -> str:
    """Return text that can be encoded: what a BMC says may hold anything."""
    return text.encode("utf-8", "replace").decode()


def opened(envelope: Mapping[str, Any]) -> object:
    """Return the result in an envelope, or raise its error."""
    if "error" in envelope:
        raise rebuilt(envelope["error"])
    return envelope["result"]


def rebuilt(wire: Mapping[str, Any]) -> IronicError:
    """Build the error that was sent: its own class, or the nearest family known here, with the status that was sent."""
    known = all_errors()
    cls = next((known[name] for name in wire["classes"] if name in known), IronicError)
    # A plug-in's class may have a constructor of its own; what makes an error of ours is set by the root's.
    error = cls.__new__(cls)
    IronicError.__init__(error, wire["message"], **{k: v for k, v in wire["facts"].items() if k != "message"})
    # A plug-in's class may be known to the conductor only. Earlier releases send no status.
    if wire.get("status", error.status) != error.status:
        vars(error).update(status=wire["status"])
    return error

"""The bodies of refusals, which BMCs send in every published shape, brought to the one of the standard.

The shapes are: the one of the standard; the same without `code`, `message` or the object `error`; extended information
as a list, an object or texts, or annotated to a property; texts of JSON; plain text; and pages of HTML.
"""

import html
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ironic.core import lenient_json, syntax

_EXTENDED: Final = "@Message.ExtendedInfo"
_GENERAL: Final = "Base.1.0.GeneralError"
_LONGEST_BODY: Final = 20_000
_LONGEST: Final = 400
_MOST_NOTES: Final = 20
_DEEPEST: Final = 6


def error_document(content: bytes) -> dict[str, Any]:
    """Return the body of a refusal as the standard has it: ``error`` with ``code``, ``message`` and a list of notes.

    Each note is an object with the texts that the BMC gives for ``MessageId``, ``Message`` and others.
    """
    try:
        document = lenient_json.parse(content)
    except ValueError:
        document = syntax.plain_text(html.unescape(content[:_LONGEST_BODY].decode(errors="replace")), _LONGEST)
    error = document.get("error", document) if isinstance(document, Mapping) else document
    notes = [note for _, note in zip(range(_MOST_NOTES), _notes(document), strict=False)]
    code = error.get("code") if isinstance(error, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else None
    if not isinstance(message, str) or not message:
        message = next((note["Message"] for note in notes if "Message" in note), "")
    return {
        "error": {
            "code": code if isinstance(code, str) and code else _GENERAL,
            **({"message": message} if message else {}),
            _EXTENDED: notes,
        }
    }


def _notes(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the notes of a body in their order, wherever it has them."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield {"Message": value}
    elif isinstance(value, list):
        for item in value:
            yield from _notes(item, depth + 1)
    elif isinstance(value, Mapping):
        if isinstance(value.get("MessageId"), str) or isinstance(value.get("Message"), str):
            yield _note(value)
        for name, item in value.items():
            is_note = name in ("error", "errors", "Messages", "message", "detail") or str(name).endswith(_EXTENDED)
            if is_note and not (name == "message" and isinstance(item, str) and _has_notes(value)):
                yield from _notes(item, depth + 1)


def _has_notes(value: Mapping[str, Any]) -> bool:
    return any(str(name).endswith(_EXTENDED) and item for name, item in value.items())


def _note(value: Mapping[str, Any]) -> dict[str, Any]:
    texts = ("MessageId", "Message", "Severity", "MessageSeverity", "Resolution")
    lists = ("MessageArgs", "RelatedProperties")
    found: dict[str, Any] = {name: value[name] for name in texts if isinstance(value.get(name), str)}
    for name in lists:
        if isinstance(value.get(name), list):
            found[name] = [item for item in value[name] if isinstance(item, str | int | float)]
    return found

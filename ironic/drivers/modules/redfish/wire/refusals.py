"""The bodies of refusals, which BMCs send in every published shape, brought to the one of the standard.

The shapes are: the one of the standard; the same without `code`, `message` or the object `error`; extended information
as a list, an object or texts, or annotated to a property; texts of JSON; plain text; pages of HTML; and parts of these.
Where nothing is found, what has the name of a text for people counts, wherever it stands.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from ironic.core.texts import lenient_json, syntax

_EXTENDED: Final = "@Message.ExtendedInfo"
# How the name of extended information ends in all its spellings.
_SPELT: Final = "ExtendedInfo"
# Names of texts for people where the shape is none that is known, the likeliest first.
_FOR_PEOPLE: Final = (
    "message", "detail", "details", "description", "error_description", "title", "reason", "resolution", "error",
)  # fmt: skip
_MOST_VALUES: Final = 200
_GENERAL: Final = "Base.1.0.GeneralError"
_LONGEST_BODY: Final = 20_000
_LONGEST: Final = 400
_MOST_NOTES: Final = 20
_DEEPEST: Final = 6
# A text for people in JSON that can't be read.
_IN_JSON: Final = re.compile(r'"message"\s*:\s*"([^"]+)', re.IGNORECASE)
# Where the standard has texts filled with the arguments of the message.
_BLANK: Final = re.compile(r"%(\d)")


class HiddenRefusal(dict[str, Any]):
    """The object `error` of a refusal at an address of a project: what answers there may be no BMC."""


def error_document(content: bytes) -> dict[str, Any]:
    """Return the body of a refusal as the standard has it: ``error`` with ``code``, ``message`` and a list of notes.

    Each note is an object with the texts that the BMC gives for ``MessageId``, ``Message`` and others.
    """
    try:
        document = lenient_json.parse(content)
    except ValueError:
        text = content[:_LONGEST_BODY].decode(errors="replace")
        cut = _IN_JSON.search(text) if text.lstrip().startswith(("{", "[")) else None
        document = syntax.plain_text(cut[1] if cut is not None else html.unescape(text), _LONGEST)
    return standard_form(document)


def standard_form(document: object) -> dict[str, Any]:
    """Return a decoded body as `error_document` does."""
    error = document.get("error", document) if isinstance(document, Mapping) else document
    notes = list(islice(_notes(document), _MOST_NOTES)) or _anywhere(document)
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
            is_note = name in ("error", "errors", "Messages", "message", "detail") or str(name).endswith(_SPELT)
            if is_note and not (name == "message" and isinstance(item, str) and _has_notes(value)):
                yield from _notes(item, depth + 1)


def _has_notes(value: Mapping[str, Any]) -> bool:
    return any(str(name).endswith(_SPELT) and item for name, item in value.items())


def _anywhere(document: object) -> list[dict[str, Any]]:
    """Return the likeliest text for people in a document of unknown shape, as the only note."""
    found: dict[str, str] = {}
    rest: list[tuple[str, object]] = [("", document)]
    for _ in range(_MOST_VALUES):
        if not rest:
            break
        name, value = rest.pop(0)
        if isinstance(value, Mapping):
            # As of a text in several languages.
            inherited = name if name in _FOR_PEOPLE[:-1] else ""
            names = ((own.lower() if own.lower() in _FOR_PEOPLE else inherited or own, own) for own in value)
            rest += [(name, value[own]) for name, own in names]
        elif isinstance(value, list):
            rest += [(name, item) for item in value]
        elif isinstance(value, str) and value.strip():
            found.setdefault(name, value)
    return [{"Message": found[name]} for name in _FOR_PEOPLE if name in found][:1]


def _note(value: Mapping[str, Any]) -> dict[str, Any]:
    texts = ("MessageId", "Message", "Severity", "MessageSeverity", "Resolution")
    lists = ("MessageArgs", "RelatedProperties")
    found: dict[str, Any] = {name: value[name] for name in texts if isinstance(value.get(name), str)}
    for name in lists:
        if isinstance(value.get(name), list):
            found[name] = [item for item in value[name] if isinstance(item, str | int | float)]
    if not found.get("Message", "x") and "Resolution" in found:
        found["Message"] = found["Resolution"]
    if "Message" in found:
        given = found.get("MessageArgs", [])
        found["Message"] = _BLANK.sub(lambda blank: _filled(blank, given), found["Message"][:_LONGEST_BODY])
    return found


def _filled(blank: re.Match[str], given: Sequence[object]) -> str:
    """Return what belongs into a blank of a text, the blank itself if that is not given."""
    number = int(blank[1])
    return str(given[number - 1])[:_LONGEST] if 0 < number <= len(given) else blank[0]

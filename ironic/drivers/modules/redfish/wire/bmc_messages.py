"""What a BMC says with a refusal: its messages, wherever the answer has them, and their words for people.

A refusal should have `error` with `code`, `message` and a list `@Message.ExtendedInfo`. Some BMCs leave out one or two
of the three, send one message in place of a list, or a text in place of a message.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.integrations.hidden_faults import hidden

REFUSES: Final = "does not do that; ask an operator: the log says why"
_EXTENDED: Final = "@Message.ExtendedInfo"
# Identities of messages that say nothing, and of those that say what went well.
_GENERAL: Final = ("", "GeneralError", "Error")
_SUCCESS: Final = "Success"
_MOST: Final = 20
_LONGEST: Final = 300


class HiddenRefusal(dict[str, Any]):
    """The object `error` of a refusal at an address of a project: what answers there may be no BMC."""


@dataclass(frozen=True, slots=True)
class BmcMessage:
    """One message: the last part of its identity, as ``GeneralError``, its text, and what it is about."""

    identity: str
    text: str
    subjects: tuple[str, ...] = ()

    @property
    def is_general(self) -> bool:
        """Whether only the text says what is wrong."""
        return self.identity in _GENERAL


def messages_in(body: object) -> list[BmcMessage]:
    """Return the messages in the decoded body of a refusal, or in its object `error`; the most specific first."""
    outer = body if isinstance(body, Mapping) else {}
    error = outer.get("error", outer)
    inner = error if isinstance(error, Mapping) else {"message": error}
    found = [*_extended(inner.get(_EXTENDED)), *_extended(outer.get(_EXTENDED) if inner is not outer else None)]
    found.append(BmcMessage(_last_part(inner.get("code")), _text(inner.get("message"))))
    return [message for message in dict.fromkeys(found) if message.text or not message.is_general][:_MOST]


def messages_of(error: sushy_errors.HTTPError) -> list[BmcMessage]:
    """Return the messages of a refusal."""
    return messages_in(error.body)


def refusal_of(error: sushy_errors.HTTPError, *secrets: str | None) -> str:
    """Return what users read of a refusal, as the end of "the BMC ..."; at an address of a project one text."""
    words = words_of(error, *secrets)
    said = f"answers with status {error.status_code}" + (f": {words}" if words else "")
    return hidden(REFUSES, "A BMC at an address", said) if isinstance(error.body, HiddenRefusal) else said


def words_of(error: sushy_errors.HTTPError, *secrets: str | None) -> str:
    """Return the words of a refusal in a line for people, without secrets; empty when the BMC says nothing."""
    all_messages = messages_of(error)
    messages = [message for message in all_messages if message.identity != _SUCCESS] or all_messages
    specific = [message.text for message in messages if message.text and not message.is_general]
    texts = specific or [message.text for message in messages if message.text] or [each.identity for each in messages]
    words = " ".join(safe_text("; ".join(dict.fromkeys(texts)), *secrets).split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."


def _extended(value: object) -> Iterator[BmcMessage]:
    for item in (value if isinstance(value, list) else [value])[:_MOST]:
        if isinstance(item, str):
            yield BmcMessage("", item)
        elif isinstance(item, Mapping):
            subjects = [*_list(item.get("MessageArgs")), *_list(item.get("RelatedProperties"))]
            names = tuple(each.rpartition("/")[2] for each in subjects if isinstance(each, str))
            yield BmcMessage(_last_part(item.get("MessageId")), _text(item.get("Message")), names)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _last_part(identity: object) -> str:
    return identity.rpartition(".")[2] if isinstance(identity, str) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

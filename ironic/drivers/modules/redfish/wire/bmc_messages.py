"""What a BMC says with a refusal: its messages, and their words for people, read from the form of the standard.

Other shapes have become that form before: `refusals`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.redfish.wire.refusals import HiddenRefusal, standard_form
from ironic.integrations.hidden_faults import hidden

REFUSES: Final = "does not do that; ask an operator: the log says why"
_EXTENDED: Final = "@Message.ExtendedInfo"
# Identities of messages that say nothing, and of those that say what went well.
_GENERAL: Final = ("", "GeneralError", "Error")
_SUCCESS: Final = "Success"
_LONGEST: Final = 300


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


def messages_in(document: Mapping[str, object]) -> list[BmcMessage]:
    """Return the messages in a document that has some; the most specific first."""
    return _messages(standard_form(document)["error"])


def messages_of(error: sushy_errors.HTTPError) -> list[BmcMessage]:
    """Return the messages of a refusal; the most specific first."""
    return _messages(error.body or {})


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


def _messages(error: Mapping[str, Any]) -> list[BmcMessage]:
    notes = [
        BmcMessage(
            _last_part(note.get("MessageId", "")),
            note.get("Message", ""),
            tuple(
                each.rpartition("/")[2]
                for each in (*note.get("MessageArgs", ()), *note.get("RelatedProperties", ()))
                if isinstance(each, str)
            ),
        )
        for note in error.get(_EXTENDED, ())
    ]
    found = [*notes, BmcMessage(_last_part(error.get("code", "")), error.get("message", ""))]
    return [message for message in dict.fromkeys(found) if message.text or not message.is_general]


def _last_part(identity: str) -> str:
    return identity.rpartition(".")[2]

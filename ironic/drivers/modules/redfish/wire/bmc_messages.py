"""What a BMC says with a refusal: its messages, and what people read of it and of other errors of the library.

Messages are read from the form of the standard, which other shapes have become before: `refusals`.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import EnumMeta
from http import HTTPStatus
from typing import Any, Final

import sushy
from sushy import exceptions as sushy_errors

from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.redfish.wire.refusals import HiddenRefusal, standard_form
from ironic.integrations.hidden_faults import hidden

LOG = logging.getLogger(__name__)

REFUSES: Final = "does not do that; ask an operator: the log says why"
_EXTENDED: Final = "@Message.ExtendedInfo"
# Identities of messages that say nothing, and of those that say what went well.
_GENERAL: Final = ("", "GeneralError", "Error")
_SUCCESS: Final = "Success"
_LONGEST: Final = 300
# As `<BootSource.PXE: 'Pxe'>` or `BootSource.PXE`, and an empty set of them.
_LIBRARY_NAMES: Final = re.compile(r"<\w+\.\w+: '([^']*)'>|\b([A-Z]\w+)\.([A-Z][A-Z0-9_]*)\b|\bset\(\)")


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


def reason_of(error: Exception) -> str:
    """Return what an error of sushy, or of what it makes of an answer, says to a person; the BMC's words if it has any.

    The words may have secrets.
    """
    is_hidden = isinstance(error, sushy_errors.HTTPError) and isinstance(error.body, HiddenRefusal)
    return f"it {refusal_of(error)}" if is_hidden else details_of(error)


def details_of(error: Exception, *secrets: str | None) -> str:
    """Return what an error says, without secrets in words of others; a password may be one of our own words."""
    if isinstance(error, sushy_errors.HTTPError):
        return _refusal(error, *secrets)
    if isinstance(error, sushy_errors.SushyError):
        # The library writes its names for values that it does not allow.
        return safe_text(_LIBRARY_NAMES.sub(_plain_word, str(error)), *secrets)
    LOG.debug("The answer of a BMC could not be read.", exc_info=error)
    return "its answer has not the form of Redfish; check redfish_address, and the log at level debug"


def _plain_word(found: re.Match[str]) -> str:
    """Return the word of Redfish for a name of the library."""
    if found[1] is not None or found[2] is None:
        return found[1] or "none"
    words = getattr(sushy, found[2], None)
    is_one = isinstance(words, EnumMeta) and found[3] in words.__members__
    return str(words[found[3]].value) if is_one and words is not None else found[0]


def _refusal(error: sushy_errors.HTTPError, *secrets: str | None) -> str:
    words = words_of(error, *secrets)
    said = f"it answers with status {error.status_code}: {words}"
    if isinstance(error, sushy_errors.ResourceNotFoundError):
        return said if words else safe_text(str(error), *secrets)
    if not isinstance(error, sushy_errors.AccessError):
        return said if words else f"it answers with status {error.status_code} and gives no reason"
    if error.status_code == HTTPStatus.FORBIDDEN:
        reason = "it forbids that to the user of redfish_username; check the rights of that user"
    else:
        reason = "wrong password or user name: it refuses the login; check redfish_username and redfish_password"
    return f"{reason} ({said})" if words else reason


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

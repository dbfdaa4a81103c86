"""What the messages of ipmitool mean: whether it is worth while to try again, and how.

A BMC may write its own words into a message, so a message decides about retries and the guard of logins only.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final

from ironic.conf import CONF


class Fault(Enum):
    """Why a command failed."""

    REFUSED = "the login was refused"
    KEY = "the key K_g is not that of the BMC"
    CIPHER = "the BMC does not take the cipher suite"
    BUSY = "the BMC can't do it now"
    NO_SESSION = "there is no session with the BMC"
    ANSWERED = "the BMC has answered that it does not do it"
    OTHER = "anything else"


# Lines about features that ipmitool searches by itself.
_NOISE: Final = (
    "Loading IANA",
    "Running Get ",
    "Invalid completion code received",
    "Get HPM",
    "Get Device ID",
    "Discovered IPMB",
)
# Such a line is the reason if nothing comes after it: then `mc info` has failed.
_LAST_WORD: Final = "Get Device ID command failed"
_DUMPS: Final = (">>", "<<", " ", "RAW ")

_REFUSALS: Final = (
    "RAKP 2 HMAC is invalid",
    "unauthorized name",
    "Invalid user name",
    "NULL user name not enabled",
    # A BMC does not answer this request when the password is wrong, but has answered those before.
    "Activate Session command failed",
)
# ipmitool has sent a request again, and then got the answers to both.
_MIXED_UP: Final = ("no response from RAKP", "Received an Unexpected", "IPMI Request Match NOT FOUND")
_WRONG_KEY: Final = "RAKP 4 message has invalid integrity check value"
_CIPHERS: Final = (
    "Unsupported cipher suite ID",
    "Error in open session response message : no matching cipher suite",
    "Error in open session response message : invalid role",
    "Error in open session response message : invalid authentication algorithm",
    "Error in open session response message : invalid integrity algorithm",
    "Error in open session response message : invalid confidentiality algorithm",
    "is not what we requested",
)
# The BMC has not begun the command when it says this.
_NOT_BEGUN: Final = (
    "insufficient resources for session",
    "Node busy",
    "Out of space",
    "BMC initialization in progress",
)
_BUSY: Final = (*_NOT_BEGUN, "Timeout")
_NO_SESSION: Final = ("Unable to establish", "Could not open socket")
# Completion codes of IPMI that a repeated command would get again.
_LASTING: Final = re.compile(
    r"(?i)invalid (command|data field)|insufficient privilege|parameter out of range|request data|illegal"
    r"|not supported|not present|command disabled|cannot return|invalid chassis|destination unavailable"
)


def fault_in(messages: str) -> Fault:
    """Return why a command failed, from all that ipmitool has written about it."""
    lines = _about_command(messages)
    text = "\n".join(lines)
    # Answers of a slow BMC may not fit each other, which says nothing about the password.
    if _has(text, _REFUSALS) and not _has(text, _MIXED_UP):
        return Fault.REFUSED
    if _WRONG_KEY in text:
        return Fault.KEY
    if _has(text, _CIPHERS):
        return Fault.CIPHER
    if _has(text, (*_BUSY, *CONF.ipmi.additional_retryable_ipmi_errors)):
        return Fault.BUSY
    if _has(text, _NO_SESSION):
        return Fault.NO_SESSION
    return Fault.ANSWERED if lines and _LASTING.search(lines[-1]) else Fault.OTHER


def is_begun(messages: str) -> bool:
    """Return whether the BMC may have begun the command, which must then not be sent again."""
    return not _has("\n".join(_about_command(messages)), (*_CIPHERS, *_NOT_BEGUN, *_NO_SESSION))


def summary(messages: str) -> str:
    """Return the message that matters, for users: the last one, or its reason."""
    lines = [line.strip(" >") for line in _about_command(messages)]
    if len(lines) > 1 and _has(lines[-1], _NO_SESSION):
        return lines[-2] if not _has(lines[-2], _NO_SESSION) else lines[0]
    return lines[-1] if lines else "ipmitool gives no reason"


def _about_command(messages: str) -> list[str]:
    """Return the lines about the command itself, without those that show what was sent and received."""
    lines = [line for line in messages.splitlines() if line.strip()]
    wanted = [line for line in lines if not line.startswith((*_NOISE, *_DUMPS))]
    return [*wanted, lines[-1]] if lines and lines[-1].startswith(_LAST_WORD) else wanted


def _has(text: str, parts: Sequence[str]) -> bool:
    small = text.lower()
    return any(part.lower() in small for part in parts if part)

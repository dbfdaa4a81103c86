"""Texts of BMCs in errors, which users read."""

import json
import re
from collections.abc import Sequence
from typing import Final

# A BMC may write what it wants into an error.
_LONGEST: Final = 600
_HIDDEN: Final = "***"

# Names in errors of Redfish, and the identity of a message by registry and version.
_NAMES: Final = frozenset(
    ("error", "code", "message", "@Message.ExtendedInfo", "Messages", "Message", "MessageId", "MessageArgs")
    + ("RelatedProperties", "Resolution", "Severity", "MessageSeverity", "@odata.type", "@odata.id")
)
_IDENTITY: Final = re.compile(r"[A-Za-z]\w*(?:\.\d{1,4}){1,3}\.\w+", re.ASCII)


def safe_text(text: str, *secrets: str | None) -> str:
    """Return a text without secrets that it may repeat, not longer than users want to read, with blanks for controls.

    A BMC must not control the terminal in which a log is read.
    """
    for secret in filter(None, secrets):
        text = text.replace(secret, _HIDDEN)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return "".join(each if each.isprintable() else " " for each in text)


def without_passwords(content: bytes, *passwords: str) -> bytes:
    """Return a document that a BMC has sent without these passwords, which it may repeat in an error.

    A password may be a word of Redfish: names that say what an error is stay, so that the error is still understood.
    """
    # Also as it stands in the text of a request that the BMC quotes.
    secrets = {form for password in filter(None, passwords) for form in (password, json.dumps(password)[1:-1])}
    if not secrets:
        return content
    longest_first = sorted(secrets, key=len, reverse=True)
    try:
        return json.dumps(_masked(json.loads(content), longest_first)).encode()
    except (ValueError, RecursionError):
        for secret in longest_first:
            content = content.replace(secret.encode(), _HIDDEN.encode())
        return content


def _masked(value: object, secrets: Sequence[str], name: str = "") -> object:
    if isinstance(value, dict):
        return {
            key if key in _NAMES else _masked(key, secrets): _masked(each, secrets, key) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_masked(each, secrets, name) for each in value]
    if isinstance(value, str) and not (name == "MessageId" and _IDENTITY.fullmatch(value)):
        for secret in secrets:
            value = value.replace(secret, _HIDDEN)
    return value

"""Texts of BMCs in errors, which users read."""

import json
from typing import Final

# A BMC may write what it wants into an error.
_LONGEST: Final = 600


def safe_text(text: str, *secrets: str | None) -> str:
    """Return a text without secrets that it may repeat, not longer than users want to read, with blanks for controls.

    A BMC must not control the terminal in which a log is read.
    """
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return "".join(each if each.isprintable() else " " for each in text)


def without_passwords(content: bytes, *passwords: object) -> bytes:
    """Return a document that a BMC has sent without these passwords, which it may repeat in an error."""
    for password in passwords:
        if isinstance(password, str) and password:
            escaped = json.dumps(password)[1:-1]
            for secret in (json.dumps(escaped)[1:-1], escaped, password):
                content = content.replace(secret.encode(), b"***")
    return content

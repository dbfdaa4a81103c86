"""Texts of BMCs in errors, which users read."""

from typing import Final

# A BMC may write what it wants into an error.
_LONGEST: Final = 600


def safe_text(text: str, *secrets: str | None) -> str:
    """Return a text without secrets that it may repeat, and not longer than users want to read."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."

"""Capabilities of a node: the text `name:value,name:value` in its properties.

Written by hooks and rules, read by schedulers. Order is kept, a name stands once. Text that is no such list is a
ValueError: silently dropping what an operator wrote would be worse.
"""

from collections.abc import Mapping


def parse(text: str | None) -> dict[str, str]:
    """Return the capabilities of a text; nothing or empty text has none."""
    if not text:
        return {}
    if not isinstance(text, str):
        raise ValueError("capabilities are text of the form name:value,name:value")
    return dict(_pair(item) for item in text.split(",") if item.strip())


def render(capabilities: Mapping[str, str]) -> str:
    """Return capabilities as text."""
    return ",".join(f"{name}:{value}" for name, value in capabilities.items())


def updated(text: str | None, changes: Mapping[str, str]) -> str:
    """Return the text with these capabilities set, those it had kept."""
    return render(parse(text) | dict(changes))


def _pair(item: str) -> tuple[str, str]:
    name, colon, value = item.strip().partition(":")
    if not name or not colon:
        raise ValueError(f"capability {item.strip()[:80]!r} is not of the form name:value")
    return name, value

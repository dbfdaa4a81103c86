"""Text of a machine, made fit for people's eyes: one line, printable, short, without markup."""

import re
from typing import Final

SHORT: Final = 500
_TAG: Final = re.compile(r"<[^<>]{0,200}>")


def one_line(text: str) -> str:
    """Return a text with a space for whatever can't be printed, line breaks included."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def plain(said: object, longest: int = SHORT) -> str:
    """Return what a machine said as one line of text without markup, at most so many characters long."""
    # Cut before it is looked at: a machine may say megabytes. Blanks that go make room for some more.
    text = _TAG.sub(" ", one_line(str(said)[: 4 * longest])).translate({ord("<"): None, ord(">"): None})
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"

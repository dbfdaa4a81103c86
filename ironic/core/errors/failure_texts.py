"""What people read of failures: the one place where a failure, which is data until then, becomes a text.

An error has a class, whose text says what failed, and facts; one of them may be the error that is its reason. The
clause that helps comes first: what the BMC, the agent or the operator's setting is to blame for. What failed with it
follows as a sentence of its own, and its reason does not say it again: an error that says no more than that gives its
own reason, and the node is named once.

An error of a plug-in may be one finished sentence, as is what a driver answers or a peer of an earlier release sends;
in those only the node is looked for.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from string import Formatter
from typing import Any, ClassVar, Final

_ENDS: Final = (".", "!", "?")

# The facts that are the reason of an error.
_REASONS: Final = ("reason", "error", "err")
# What other facts name, and how texts call it.
_NOUNS: Final = {"node": "node", "vif": "virtual interface", "host": "conductor"}

# What stands in the place of a fact that is missing.
_UNKNOWN: Final = "(unknown)"

# What a text says already: texts of errors, and the facts in their places.
Said = Collection[tuple[str, Mapping[str, object]]]


class FailureWithFacts(Exception):
    """An error whose class has a text with places for facts, and which has these facts."""

    text: ClassVar[str]
    # Whether facts follow for which a complete text has no places.
    shows_all_facts: ClassVar[bool] = False

    def __init__(self, message: str | None, facts: dict[str, Any]) -> None:
        self.facts = facts
        # Whether it is one finished sentence, and text and facts say nothing.
        self.is_sentence = message is not None
        self.message = self.sentence(facts) if message is None else message
        super().__init__(self.message)

    @classmethod
    def text_for(cls, facts: Mapping[str, object]) -> str:
        """Return the text that has places for these facts."""
        return cls.text

    @classmethod
    def sentence(cls, facts: Mapping[str, object], said: Said = ()) -> str:
        """Return the text with these facts.

        If one is missing, its place says so, and the facts without a place follow.
        """
        text = cls.text_for(facts)
        filled, places = _filled(text, _shown(text, facts, said)), places_of(text)
        if text is cls.text and places <= facts.keys() and not cls.shows_all_facts:
            return filled
        more = ", ".join(f"{name}={value}" for name, value in facts.items() if name not in places)
        return f"{filled} ({more})" if more else filled


# Why something failed: an error, or one finished sentence.
Reason = BaseException | str


def failure_text(headline: str, reason: Reason, node: str | None = None, said: Said = ()) -> str:
    """Return the reason and then the headline, which names what failed, without a full stop.

    ``node`` is known to the reader; ``said`` are errors that say no more than the headline.
    """
    why = in_words(reason, said)
    why = (_without(why, "node", node) if node else why).strip()
    return f"{why}{'' if why.endswith(_ENDS) else '.'} {headline}."


def in_words(reason: Reason, said: Said = ()) -> str:
    """Return a reason as text, without what is said already."""
    reason = cause_of(reason, said)
    if isinstance(reason, FailureWithFacts):
        text = reason.message if reason.is_sentence else reason.sentence(reason.facts, said)
    else:
        text = reason if isinstance(reason, str) else f"unexpected {type(reason).__name__}: {reason}"
    return text if text.strip() else "No reason was given"


def cause_of(reason: Reason, said: Said) -> Reason:
    """Return the reason behind errors that say no more than what is said already."""
    while isinstance(reason, FailureWithFacts) and _is_said(reason, said):
        cause = next((reason.facts[name] for name in _REASONS if name in reason.facts), None)
        if cause is None:
            break
        reason = cause if isinstance(cause, BaseException) else str(cause)
    return reason


def headline_of(text: str, **facts: object) -> str:
    """Return what a text of an error says besides its reason."""
    parts = Formatter().parse(text)
    said = "".join(start + str(facts[name]) if name in facts else start for start, name, _form, _conversion in parts)
    return said.strip(" .:")


@lru_cache(maxsize=1024)
def places_of(text: str) -> frozenset[str]:
    """Return the names of the facts that a text has places for."""
    return frozenset(name for _start, name, _form, _conversion in Formatter().parse(text) if name)


def _filled(text: str, facts: Mapping[str, object]) -> str:
    parts = []
    for start, name, form, conversion in Formatter().parse(text):
        parts.append(start)
        if name:
            parts.append(_in_place(facts[name], form or "", conversion) if name in facts else _UNKNOWN)
    return "".join(parts)


def _in_place(fact: object, form: str, conversion: str | None) -> str:
    try:
        return format(repr(fact) if conversion == "r" else fact, form)
    except (TypeError, ValueError):
        # A plug-in's text may want a number where there is none.
        return str(fact)


def _is_said(error: FailureWithFacts, said: Said) -> bool:
    return any(
        error.text == text
        and all(error.facts.get(name) == fact for name, fact in facts.items() if name not in _REASONS)
        for text, facts in said
    )


def _shown(text: str, facts: Mapping[str, object], said: Said) -> dict[str, object]:
    """Return the facts as a text shows them: of its reason only what neither it nor others say."""
    shown = dict(facts)
    for name, value in facts.items():
        if isinstance(value, BaseException) or (name in _REASONS and isinstance(value, str)):
            why = in_words(value, (*said, (text, facts)))
            for fact, noun in _NOUNS.items():
                if f"{{{fact}}}" in text and facts.get(fact):
                    why = _without(why, noun, str(facts[fact]))
            # What to do next is the last sentence of a text; others may follow it in the reason.
            if advice := text.rpartition("}")[2].partition(". ")[2]:
                why = why.replace(f" {advice}", "").removesuffix(advice).rstrip() or why
            shown[name] = why.removesuffix(".") if f"{{{name}}}." in text else why
    return shown


def _without(text: str, noun: str, name: str) -> str:
    """Return a text in which something is not named: " for node U" goes, "node U" becomes "the node"."""
    if name not in text:
        return text
    noun, named = re.escape(noun), re.escape(name)
    text = re.sub(rf"\A{noun} {named}: ", "", text, flags=re.IGNORECASE)
    text = re.sub(rf" for {noun} {named}(?![\w-])", "", text)
    return re.sub(rf"\b({noun}) {named}(?![\w-])", _definite, text, flags=re.IGNORECASE)


def _definite(found: re.Match[str]) -> str:
    noun = found[1]
    return f"The {noun[0].lower()}{noun[1:]}" if noun[0].isupper() else f"the {noun}"

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
from string import Formatter
from typing import Any, ClassVar, Final

_ENDS: Final = (".", "!", "?")
_NO_FACTS: Final[Mapping[str, object]] = {}

# The facts that are the reason of an error.
_REASONS: Final = ("reason", "error", "err")
# What the other facts name, where texts name them so.
_NOUNS: Final = {"node": "node", "vif": "virtual interface", "host": "conductor"}


class FailureWithFacts(Exception):
    """An error whose class has a text with placeholders, and which has the facts for them."""

    text: ClassVar[str]

    def __init__(self, message: str | None, facts: dict[str, Any]) -> None:
        self.facts = facts
        # One finished sentence, instead of text and facts.
        self.message = self.sentence(facts) if message is None else message
        super().__init__(self.message)

    @classmethod
    def sentence(cls, facts: Mapping[str, object]) -> str:
        """Return the text of the class with these facts, or both side by side if one is missing."""
        try:
            return cls.text.format(**_shown(cls.text, facts))
        except (KeyError, IndexError):
            return f"{cls.text} ({', '.join(f'{key}={value}' for key, value in facts.items())})"


# Why something failed: an error, or one finished sentence.
Reason = BaseException | str


def failure_text(
    headline: str,
    reason: Reason,
    node: str | None = None,
    *,
    said: Collection[str] = (),
    facts: Mapping[str, object] = _NO_FACTS,
) -> str:
    """Return the reason and then the headline, which names what failed, without a full stop.

    ``node`` is known to the reader; ``said`` are the texts of errors that say no more than the headline, if they have
    the same ``facts``.
    """
    why = in_words(cause_of(reason, said, facts))
    why = (_without(why, "node", node) if node else why).strip()
    return f"{why}{'' if why.endswith(_ENDS) else '.'} {headline}."


def in_words(reason: Reason) -> str:
    """Return a reason as text, without a word on what failed with it."""
    if isinstance(reason, str | FailureWithFacts):
        return str(reason) if str(reason).strip() else "No reason was given"
    return f"unexpected {type(reason).__name__}: {reason}"


def cause_of(reason: Reason, said: Collection[str], facts: Mapping[str, object] = _NO_FACTS) -> Reason:
    """Return the reason behind errors with one of these texts, and with these facts as far as the text has them."""
    while isinstance(reason, FailureWithFacts) and reason.text in said:
        named = [name for name in facts if f"{{{name}}}" in reason.text]
        cause = next(
            (reason.facts[name] for name in _REASONS if f"{{{name}}}" in reason.text and name in reason.facts), None
        )
        if cause is None or any(reason.facts.get(name) != facts[name] for name in named):
            break
        reason = cause if isinstance(cause, BaseException) else str(cause)
    return reason


def headline_of(text: str, **facts: object) -> str:
    """Return what a text of an error says besides its reason."""
    parts = Formatter().parse(text)
    said = "".join(start + str(facts[name]) if name in facts else start for start, name, _form, _conversion in parts)
    return said.strip(" .:")


def _shown(text: str, facts: Mapping[str, object]) -> dict[str, object]:
    """Return the facts as a text shows them: of its reason only what the text does not say itself."""
    shown = dict(facts)
    for name, value in facts.items():
        if isinstance(value, BaseException) or (name in _REASONS and isinstance(value, str)):
            rest = {key: fact for key, fact in facts.items() if key not in _REASONS}
            shown[name] = _fitted(text, name, in_words(cause_of(value, (text,), rest)), rest)
    return shown


def _fitted(text: str, name: str, reason: str, facts: Mapping[str, object]) -> str:
    for fact, noun in _NOUNS.items():
        if f"{{{fact}}}" in text and (value := facts.get(fact)):
            reason = _without(reason, noun, str(value))
    return reason.removesuffix(".") if f"{{{name}}}." in text else reason


def _without(text: str, noun: str, name: str) -> str:
    """Return a text in which something is not named: "for node U" goes, "node U" becomes "the node"."""
    noun, named = re.escape(noun), re.escape(name)
    text = re.sub(rf"\A{noun} {named}: ", "", text, flags=re.IGNORECASE)
    text = re.sub(rf" for {noun} {named}(?![\w-])", "", text)
    return re.sub(rf"\b({noun}) {named}(?![\w-])", _definite, text, flags=re.IGNORECASE)


def _definite(found: re.Match[str]) -> str:
    noun = found[1]
    return f"The {noun[0].lower()}{noun[1:]}" if noun[0].isupper() else f"the {noun}"

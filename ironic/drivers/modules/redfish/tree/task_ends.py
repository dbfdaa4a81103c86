"""How a task of a BMC stands, by its document.

A task has gone well only if the word of the standard says so, and nothing beside it says otherwise. One that is over
and says neither that it went well nor that it failed has an end that is unsaid: what waits for it looks at the
machine, or fails. States of vendors' own count as going on until something says that the task is over.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Final

import sushy

from ironic.core.texts import syntax
from ironic.drivers.modules.redfish.wire.document_faults import fault_at

_GOOD: Final = "completed"
_BAD: Final = frozenset({"killed", "exception", "cancelled"})
_OF_STANDARD: Final = frozenset(word.value.lower() for word in sushy.TaskState)
_GOES_ON: Final = _OF_STANDARD - _BAD - {_GOOD}
# Words of a fault. One without them is no success for that.
_FAULT: Final = re.compile(r"fail|error|abort|cancel|reject|invalid|denied|refus|kill|exception|timed?[ _-]?out", re.I)
# How states of vendors' own end whose task is over, however far it came.
_FAILED: Final = re.compile(
    r"(fail(ed|ures?)?|errors?|aborted|cancell?ed|rejected|killed|time[ _-]?out|timed[ _-]?out)$"
)
_SEVERE: Final = re.compile(r"critical|error|fatal|fail|major|severe|alert|emergency", re.I)
# Texts that say nothing.
_EMPTY: Final = frozenset({"", "n/a", "na", "none", "null", "unknown", "-"})
_FINE: Final = frozenset({"ok", "warning"})
_EXTENDED: Final = "@Message.ExtendedInfo"
_SEVERITIES: Final = ("MessageSeverity", "Severity")
_ALL_PERCENT: Final = 100
_MOST_MESSAGES: Final = 10
_LONGEST: Final = 300
# Clocks that are not set, and tasks without an end, show the first days of their time.
_NEVER: Final = datetime(2000, 1, 1)


class End(Enum):
    """How a task has ended."""

    GOOD = auto()
    BAD = auto()
    UNSAID = auto()


@dataclass(frozen=True, slots=True)
class BmcTask:
    """The state of a task: ``word`` is the BMC's, empty where it says nothing; ``end`` is None while it goes on."""

    word: str
    end: End | None
    text: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it goes on no more."""
        return self.end is not None

    @property
    def is_good(self) -> bool:
        """Whether it has certainly gone well."""
        return self.end is End.GOOD


def task_in(document: Mapping[str, object]) -> BmcTask:
    """Return how the task of a document stands."""
    words = [word for name in ("TaskState", "JobState") if (word := _word(document.get(name)))]
    plain = {word.lower() for word in words}
    shown = " and ".join(words)
    statuses = {word.lower() for name in ("TaskStatus", "JobStatus") if (word := _word(document.get(name)))}
    is_critical = any(map(_SEVERE.search, statuses))
    if not plain & _BAD and (plain & _GOES_ON or not (_GOOD in plain or is_critical or _is_ended(document, plain))):
        return BmcTask(shown, None)
    messages = _messages(document)
    is_bad = plain & _BAD or is_critical or any(map(_FAULT.search, plain)) or any(map(_is_severe, messages))
    if is_bad or _is_denied(document):
        return BmcTask(shown, End.BAD, _text(document, shown, is_own=not plain <= _OF_STANDARD))
    is_odd = any(fault_at(document, name) for name in ("TaskStatus", "JobStatus"))
    is_odd = is_odd or any(map(_has_odd_severity, messages))
    if plain == {_GOOD} and statuses <= _FINE and not is_odd:
        return BmcTask(shown, End.GOOD)
    return BmcTask(shown, End.UNSAID, _unsaid(document, shown, statuses))


def _is_ended(document: Mapping[str, object], words: set[str]) -> bool:
    """Return whether a task in a state that is no word of the standard, or in none, is over."""
    percent = document.get("PercentComplete")
    if any(map(_FAILED.search, words)):
        return True
    if isinstance(percent, int | float) and not isinstance(percent, bool):
        return percent >= _ALL_PERCENT
    end = syntax.moment_of(document.get("EndTime"))
    return end is not None and end > _NEVER


def _word(value: object) -> str:
    text = syntax.plain_text(value, _LONGEST).strip() if isinstance(value, str) else ""
    return "" if text.lower() in _EMPTY else text


def _messages(document: Mapping[str, object]) -> list[object]:
    """Return the messages of a task; some BMCs have one in their place, and jobs are a message by themselves."""
    found = [*_flat(document.get("Messages")), *_flat(document.get(_EXTENDED))]
    own = {name: document[name] for name in ("Message", "MessageId", *_SEVERITIES) if name in document}
    error = document.get("error")
    if isinstance(error, Mapping):
        found += [{"MessageId": error.get("code"), "Message": error.get("message")}, *_flat(error.get(_EXTENDED))]
    return [*found, own] if own else found


def _flat(given: object, depth: int = 3) -> Iterator[object]:
    """Yield messages, and what lists and messages have in them."""
    if isinstance(given, list) and depth:
        for one in given:
            yield from _flat(one, depth - 1)
    elif given is not None:
        yield given
        if isinstance(given, Mapping) and depth:
            yield from _flat(given.get(_EXTENDED), depth - 1)


def _is_denied(document: Mapping[str, object]) -> bool:
    """Return whether a task says in words of its vendor, or by its health, that it has failed."""
    oem, health = document.get("Oem"), document.get("Status")
    vendors = [part for part in oem.values() if isinstance(part, Mapping)] if isinstance(oem, Mapping) else []
    words = [_word(part.get(name)) for part in vendors for name in ("TaskState", "JobState")]
    is_ill = isinstance(health, Mapping) and _SEVERE.search(_word(health.get("Health"))) is not None
    return is_ill or any(map(_FAULT.search, words))


def _has_odd_severity(message: object) -> bool:
    return isinstance(message, Mapping) and not all(isinstance(message.get(name), str | None) for name in _SEVERITIES)


def _is_severe(message: object) -> bool:
    """Return whether a message is about a failure: by its severity, or by its identity where it has none."""
    if not isinstance(message, Mapping):
        return False
    given = [word for name in _SEVERITIES if (word := _word(message.get(name)))]
    if any(map(_SEVERE.search, given)):
        return True
    identity = _word(message.get("MessageId")).rpartition(".")[2]
    return "ok" not in {word.lower() for word in given} and _FAULT.search(identity) is not None


def _text(document: Mapping[str, object], shown: str, *, is_own: bool) -> str:
    said = "; ".join(list(_said(document))[:_MOST_MESSAGES])
    if not said:
        return f"the BMC reports state {shown} and no reason"
    return f"{said} (state {shown})" if is_own and shown else said


def _unsaid(document: Mapping[str, object], shown: str, statuses: set[str]) -> str:
    state = f"state {shown}" if shown else "no state"
    status = f" with status {', '.join(sorted(statuses))}" if statuses else ""
    said = "; ".join(list(_said(document))[:_MOST_MESSAGES])
    words = f", and says: {said}" if said else ""
    return f"its task is over, and does not say that it went well: it shows {state}{status}{words}"


def _said(document: Mapping[str, object]) -> Iterator[str]:
    for message in _messages(document):
        texts = (message.get("Message"), message.get("MessageId")) if isinstance(message, Mapping) else (message,)
        if said := next((text for text in map(_word, texts) if text), ""):
            yield said

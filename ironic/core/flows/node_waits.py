"""What a node waits for, as data: one record per wait, which says what is awaited, until when, and what follows.

Each wait is a row of table `node_waits`. It is begun, changed and ended on the record of its node, and stored with the
next save of that; the node itself names its waits in driver_internal_info, so that no query is needed to know whether
it has any. Waits nest: a step that waits for a BMC may meet a setting that needs a restart. Whatever moves a node out
of the state in which it waits ends all of them. A wait for a ramdisk is no row: the state of the node says it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Protocol, TypeVar, get_type_hints

from ironic.core.flows.flow import in_state
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.keys import internal_keys
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.secrets import masking
from ironic.core.texts import syntax

KEY: Final = InternalKey("waits", list[Any], "The kinds of what the node waits for, with their words.")
WORDS: Final = InternalKey("waiting_for", str, "What it waits for now, and until when, for people.")
_LONGEST: Final = 300

M = TypeVar("M")


class Follows(StrEnum):
    """What follows when a wait ends."""

    FLOW = "flow"
    """The flow of the node goes on."""
    WORK = "work"
    """The work that ended for the wait is done again."""
    STEP = "step"
    """Nothing: the step in which the wait is nested goes on by itself."""
    REQUEST = "request"
    """What a user has requested outside a flow ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWait:
    """One wait of a node; times are UTC without time zone.

    ``kind`` says what is asked, ``interface`` whom: the node's interface of that kind, None the conductor itself.
    ``memory`` is an encoded record of the kind (`encoded`), ``changed`` when it was stored.
    """

    kind: str
    interface: str | None
    words: str
    since: datetime
    until: datetime | None
    next_look: datetime
    follows: Follows
    run: str | None
    changed: datetime
    memory: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def text(self) -> str:
        """What is awaited and until when, as people read it."""
        words = self.words if len(self.words) <= _LONGEST else f"{self.words[:_LONGEST]}..."
        return masking.masked_text(words if self.until is None else f"{words}, until {shown(self.until)}")

    def is_same(self, other: "NodeWait | None") -> bool:
        """Return whether a wait that was read again is this one, with nothing new to remember."""
        return other is not None and (self.since, self.changed) == (other.since, other.changed)


class Record(internal_keys.Record, Protocol):
    """The part of a node record that is used here."""

    pending_waits: Mapping[str, NodeWait | None]

    @property
    def provision_state(self) -> str: ...


def open_kinds(node: Record) -> list[str]:
    """Return the kinds of what a node waits for, the innermost last."""
    return [kind for kind, _ in KEY.of(node) or ()]


def is_open(node: Record, kind: str) -> bool:
    """Return whether a node has a wait of a kind."""
    return kind in open_kinds(node)


def put(node: Record, wait: NodeWait) -> None:
    """Begin a wait, or replace the one of its kind; the caller saves the node."""
    node.pending_waits = {**node.pending_waits, wait.kind: wait}
    listed = [list(each) for each in KEY.of(node) or ()]
    for each in listed:
        if each[0] == wait.kind:
            each[1] = wait.text
            break
    else:
        listed.append([wait.kind, wait.text])
    _list(node, listed)


def end(node: Record, kind: str) -> bool:
    """End the wait of a kind; return whether there was one. The caller saves the node."""
    listed = KEY.of(node) or []
    left = [each for each in listed if each[0] != kind]
    if len(left) == len(listed):
        return False
    node.pending_waits = {**node.pending_waits, kind: None}
    _list(node, left)
    return True


def end_all(node: Record) -> None:
    """End whatever a node waits for; the caller saves the node."""
    for kind in open_kinds(node):
        end(node, kind)


def _list(node: Record, listed: list[Any]) -> None:
    if listed:
        KEY.set(node, listed)
        WORDS.set(node, listed[-1][1])
    else:
        KEY.delete(node)
        WORDS.delete(node)


def say(node: Record, text: str | None) -> None:
    """Show what a node waits for that is no row, None for nothing; what is a row has its own words."""
    if open_kinds(node):
        return
    if text is not None:
        WORDS.set(node, masking.masked_text(text))
    else:
        WORDS.delete(node)


def text_of(node: Record) -> str | None:
    """Return what a node waits for, innermost, as people read it."""
    return WORDS.of(node) or None


def shown(moment: datetime) -> str:
    """Return a moment, UTC without time zone, as people read it."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def run_of(node: Record) -> str | None:
    """Return what distinguishes the run of a flow, or of its step, from others; None outside a flow."""
    flow = in_state(node.provision_state)
    if flow is None:
        return None
    began = StepCursor.of(node, flow).began
    return flow.name if began is None else f"{flow.name} {began.isoformat()}"


# The codec of what a wait remembers: a frozen dataclass of JSON values and times


def encoded(record: Any) -> dict[str, Any]:
    """Return a record as JSON, None as an empty one; fields that have their default are left out."""
    if record is None:
        return {}
    return {
        one.name: value.isoformat() if isinstance(value, datetime) else value
        for one in dataclasses.fields(record)
        if (value := getattr(record, one.name)) != one.default
    }


def decoded(kind: type[M], memory: Mapping[str, Any]) -> M:
    """Return the record of a class; what it does not know, as a later release has stored it, is left out."""
    return kind(**{
        name: syntax.moment_of(memory[name]) if hint in (datetime, datetime | None) else memory[name]
        for name, hint in get_type_hints(kind).items()
        if name in memory
    })  # fmt: skip


def remembering(wait: NodeWait, memory: object, now: datetime, **more: Any) -> NodeWait:
    """Return the wait with something new to remember, so that the next look comes at once."""
    return replace(wait, memory=encoded(memory), changed=now, next_look=now, **more)

"""Where a flow stands on its node: a value, and the one codec between it and the node's row.

The plan and the place in it live in driver_internal_info, the running step in a column that users see, or there too
where the flow has no column. A cursor is read, a changed one is put back in memory, and the caller's next save stores
it, which comes before the step begins: a conductor that takes over knows what was running (S50, S60). Drivers set some
of it themselves in the middle of a step, so a cursor is read anew after each. After a failure the plan stays, for
people to look at, without the arguments of its steps: they may hold secrets, and nothing needs them any more. Names of
keys: doc/contract/steps.md#progress.
"""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, Self

from ironic.core.flow import Flow
from ironic.core.steps import Step, parse_all

Document = Mapping[str, Any]


class Record(Protocol):
    """The part of a node's record that is used here."""

    @property
    def driver_internal_info(self) -> Any: ...

    def set_driver_internal_info(self, key: str, value: Any) -> Any: ...

    def del_driver_internal_info(self, key: str) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCursor:
    """The place of one flow on one node. Times are UTC without zone."""

    flow: Flow
    # What a user asked for, where the plan has a key of its own; the plan, or what it is going to be made of.
    user_list: Sequence[Document] | None = None
    listed: Sequence[Document] | None = None
    is_by_request: bool = False
    has_no_ramdisk: bool = False
    is_planned: bool = False
    # Place of the running step in the plan; None before the first.
    index: int | None = None
    current: Step | None = None
    # When the running step began; tells one run of a step from the next.
    began: datetime | None = None
    # Until when it waits, and on which child node it runs.
    until: datetime | None = None
    child: str | None = None
    # It is to run again when the flow goes on.
    repeats: bool = False
    # The machine is restarted between it and the next one.
    restarts: bool = False
    # Its interface looks after its end itself, so that heartbeats don't count.
    is_polled: bool = False

    # The codec

    @classmethod
    def of(cls, node: Record, flow: Flow) -> Self:
        """Read where the flow stands on a node."""
        if not flow.keeps_place:
            return cls(flow=flow)
        info, found = node.driver_internal_info, {}
        for name, key in keys_of(flow).items():
            if (value := info.get(key)) is not None:
                found[name] = _decoded(name, value)
        step = getattr(node, flow.column) if flow.column else info.get(_step_key(flow))
        return cls(flow=flow, current=Step.parse(step) if step else None, **found)

    def put(self, node: Record) -> None:
        """Write the cursor on its node; the caller saves."""
        if not self.flow.keeps_place:
            return
        info = node.driver_internal_info
        encoded = {key: _encoded(name, getattr(self, name)) for name, key in keys_of(self.flow).items()}
        step = self.current.as_dict() if self.current else {}
        if self.flow.column:
            setattr(node, self.flow.column, step)
        else:
            encoded[_step_key(self.flow)] = step or None
        for key, value in encoded.items():
            if value is not None:
                node.set_driver_internal_info(key, value)
            elif key in info:
                node.del_driver_internal_info(key)

    # What was asked for

    @classmethod
    def begun(cls, flow: Flow, asked: Sequence[Step] | None = None, *, has_no_ramdisk: bool = False) -> Self:
        """Return the cursor of a flow that begins with what a user asks for; None means that nobody asks."""
        listed = None if asked is None else _documents(asked)
        if flow.keeps_users_list:
            return cls(flow=flow, user_list=listed, has_no_ramdisk=has_no_ramdisk)
        return cls(flow=flow, listed=listed, is_by_request=listed is not None, has_no_ramdisk=has_no_ramdisk)

    @property
    def asked(self) -> list[Step] | None:
        """What a user asked for; None when the flow chooses its steps itself."""
        # In the one list, a plan that the flow has made itself is no request.
        listed = self.user_list if self.flow.keeps_users_list else self.listed if self.is_by_request else None
        return None if listed is None else parse_all(listed)

    # The plan and the place in it

    @property
    def plan(self) -> list[Step]:
        """The steps that were decided on."""
        return parse_all(self.listed or ())

    def planned(self, plan: Sequence[Step]) -> Self:
        """Keep the steps that will run."""
        return replace(self, listed=_documents(plan), is_planned=True)

    def entered(self, index: int, step: Step, now: datetime) -> Self:
        """Show the step that is about to run."""
        return replace(self, index=index, current=step, began=now, child=None, until=None)

    def paused(self, seconds: float, now: datetime) -> Self:
        """Note until when the running step waits."""
        return replace(self, until=now + timedelta(seconds=seconds))

    def seconds(self, now: datetime) -> int | None:
        """For how long the running step is under way."""
        return None if self.began is None else int((now - self.began).total_seconds())

    def seconds_left(self, now: datetime) -> float | None:
        """How long the running step waits still, less than 0 when it has waited longer; None when it has no end."""
        return None if self.until is None else (self.until - now).total_seconds()

    @property
    def whereabouts(self) -> str:
        """Where the flow is, as the end of a sentence; empty when no step is running."""
        if self.current is None:
            return ""
        return f" in step {self.current.name}" + (f" on child node {self.child}" if self.child else "")

    @property
    def next_index(self) -> int:
        """The place to go on from; the step that waited is finished unless it is to run again."""
        if self.index is None:
            return 0
        return self.index if self.repeats else self.index + 1

    def aborting(self) -> Self:
        """Have the flow abort when the running step ends."""
        return self if self.current is None else replace(self, current=replace(self.current, abort_after=True))

    def merged(self, plan: Sequence[Step]) -> Self:
        """Keep what has run and put the rest of another plan behind it; no step of it is lost or run once too often."""
        ran = self.plan[: self.next_index]
        counted, rest = Counter(step.key for step in ran), []
        for step in plan:
            counted[step.key] -= 1
            if counted[step.key] < 0:
                rest.append(step)
        return self.planned([*ran, *rest])

    def started_over(self) -> Self:
        """Forget the plan and the place in it; what was asked for stays."""
        return replace(self._between_steps(), listed=None, is_planned=False)

    # The end

    def left(self) -> Self:
        """Show that no step is running any more; which ones were to run stays, without what they were given."""
        return replace(
            self._between_steps(), listed=_without_arguments(self.listed), user_list=_without_arguments(self.user_list)
        )

    def _between_steps(self) -> Self:
        return replace(
            self, index=None, current=None, began=None, until=None, child=None,
            repeats=False, restarts=False, is_polled=False,
        )  # fmt: skip


@functools.cache
def keys_of(flow: Flow) -> Mapping[str, str]:
    """Return under which keys of driver_internal_info the fields of a flow's cursor stand."""
    name, gerund = flow.name, flow.gerund or flow.name
    keys = {
        "listed": f"{name}_steps",
        "user_list": f"user_{name}_steps",
        "is_by_request": f"declarative_{gerund}",
        "has_no_ramdisk": f"{flow.prepared_as or gerund}_disable_ramdisk",
        "is_planned": "steps_validated",
        "index": f"{name}_step_index",
        "began": f"{name}_step_started_at",
        "until": f"{name}_step_waits_until",
        "child": f"{name}_step_child_node",
        "repeats": f"skip_current_{name}_step",
        "restarts": f"{gerund}_reboot",
        "is_polled": f"{gerund}_polling",
    }
    # A list of its own is a request by itself; else the one list has to say what it is.
    del keys["is_by_request" if flow.keeps_users_list else "user_list"]
    return keys


def lists_of(flow: Flow) -> list[str]:
    """Return the keys of driver_internal_info that hold lists of steps, with what they are given."""
    return [key for name, key in keys_of(flow).items() if name in ("listed", "user_list")]


def _step_key(flow: Flow) -> str:
    return f"{flow.name}_step"


_TIMES: Final = ("began", "until")


def _decoded(name: str, value: Any) -> Any:
    if name in _TIMES:
        return datetime.fromisoformat(value)
    if name == "repeats":
        # The key says whether the step is skipped; drivers write it.
        return value is False
    return bool(value) if name in _FLAGS else value


def _encoded(name: str, value: Any) -> Any:
    """Return a value as it is stored; None for what is left out."""
    if name in _TIMES:
        return value and value.isoformat()
    if name == "repeats":
        return False if value else None
    return value or None if name in _FLAGS else value


_FLAGS: Final = frozenset({"is_by_request", "has_no_ramdisk", "is_planned", "restarts", "is_polled"})


def _documents(steps: Sequence[Step]) -> list[Document]:
    return [step.as_dict() for step in steps]


def _without_arguments(listed: Sequence[Document] | None) -> Sequence[Document] | None:
    return listed and [{name: value for name, value in step.items() if name != "args"} for step in listed]

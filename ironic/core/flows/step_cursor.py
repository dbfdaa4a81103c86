"""The progress of a flow on its node as an immutable value, and its encoding in the node's row.

The plan and the position in it are stored in driver_internal_info, the running step in a column that users see, or in
driver_internal_info if the flow has no column. `StepCursor.of` reads the cursor, `put` writes a changed one to the
record, and the caller saves the record before the step begins, so that a conductor that takes over knows which step was
running (S50, S60). Drivers change some of the keys during a step, so the cursor is read again after each step. After
the end of a flow the plan stays for operators, without the arguments of its steps, which may hold secrets.
Names of keys: doc/contract/steps.md#progress.
"""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from ironic.core.flows.flow import Flow
from ironic.core.flows.steps import Step, parse_all
from ironic.core.keys.internal_keys import Record

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCursor:
    """The progress of one flow on one node. Times are UTC without time zone."""

    flow: Flow
    # The user's list, if the flow stores it beside the plan; the plan, or until it is made the user's list.
    user_list: Sequence[Document] | None = None
    listed: Sequence[Document] | None = None
    is_by_request: bool = False
    has_no_ramdisk: bool = False
    is_planned: bool = False
    # Position of the running step in the plan; None before the first.
    index: int | None = None
    current: Step | None = None
    # When the running step began; distinguishes one run of a step from the next.
    began: datetime | None = None
    # On which child node it runs.
    child: str | None = None
    # The step runs again when the flow continues.
    repeats: bool = False
    # The machine is restarted between this step and the next one.
    restarts: bool = False
    # Its interface polls for the end of the step, so heartbeats do not end it.
    is_polled: bool = False

    # The codec

    @classmethod
    def of(cls, node: Record, flow: Flow) -> Self:
        """Read the progress of a flow from its node."""
        if not flow.keeps_place:
            return cls(flow=flow)
        info, found = node.driver_internal_info, {}
        for name, key in keys_of(flow).items():
            if (value := info.get(key)) is not None:
                found[name] = _decoded(name, value)
        step = getattr(node, flow.column) if flow.column else info.get(_step_key(flow))
        return cls(flow=flow, current=Step.parse(step) if step else None, **found)

    def put(self, node: Record) -> None:
        """Write the cursor to the node record; the caller saves it."""
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

    # The request

    @classmethod
    def begun(cls, flow: Flow, asked: Sequence[Step] | None = None, *, has_no_ramdisk: bool = False) -> Self:
        """Return the cursor of a new flow with the steps that a user requested; None: the flow chooses its steps."""
        listed = None if asked is None else _documents(asked)
        if flow.keeps_users_list:
            return cls(flow=flow, user_list=listed, has_no_ramdisk=has_no_ramdisk)
        return cls(flow=flow, listed=listed, is_by_request=listed is not None, has_no_ramdisk=has_no_ramdisk)

    @property
    def asked(self) -> list[Step] | None:
        """The steps that a user requested; None when the flow chooses its steps."""
        if self.flow.keeps_users_list:
            listed = self.user_list
        else:
            # The same key holds plans that no user requested.
            listed = self.listed if self.is_by_request else None
        return None if listed is None else parse_all(listed)

    # The plan and the position in it

    @property
    def plan(self) -> list[Step]:
        """The steps that the flow runs."""
        return parse_all(self.listed or ())

    def planned(self, plan: Sequence[Step]) -> Self:
        """Set the plan."""
        return replace(self, listed=_documents(plan), is_planned=True)

    def entered(self, index: int, step: Step, now: datetime) -> Self:
        """Set the step that begins; ``now`` is UTC without time zone."""
        return replace(self, index=index, current=step, began=now, child=None)

    def seconds(self, now: datetime) -> int | None:
        """Return for how many seconds the running step has been running; None if no step is."""
        return None if self.began is None else int((now - self.began).total_seconds())

    @property
    def position_text(self) -> str:
        """The running step and child node, as the end of a sentence; empty when no step is running."""
        if self.current is None:
            return ""
        return f" in step {self.current.name}" + (f" on child node {self.child}" if self.child else "")

    @property
    def next_index(self) -> int:
        """The position to continue from: that of the running step if it runs again, else the next one."""
        if self.index is None:
            return 0
        return self.index if self.repeats else self.index + 1

    def aborting(self) -> Self:
        """Mark the running step so that the flow is aborted when it ends."""
        return self if self.current is None else replace(self, current=replace(self.current, abort_after=True))

    def merged(self, plan: Sequence[Step]) -> Self:
        """Keep the steps that have run, followed by those of another plan that have not run yet."""
        ran = self.plan[: self.next_index]
        counted, rest = Counter(step.key for step in ran), []
        for step in plan:
            counted[step.key] -= 1
            if counted[step.key] < 0:
                rest.append(step)
        return self.planned([*ran, *rest])

    def started_over(self) -> Self:
        """Drop the plan and the position in it; the user's list stays."""
        return replace(self._between_steps(), listed=None, is_planned=False)

    # The end

    def ended(self) -> Self:
        """Clear the running step; the plan and the user's list stay, without the arguments of their steps."""
        return replace(
            self._between_steps(), listed=_without_arguments(self.listed), user_list=_without_arguments(self.user_list)
        )

    def _between_steps(self) -> Self:
        return replace(
            self, index=None, current=None, began=None, child=None,
            repeats=False, restarts=False, is_polled=False,
        )  # fmt: skip


@functools.cache
def keys_of(flow: Flow) -> Mapping[str, str]:
    """Return the keys of driver_internal_info that hold the fields of a flow's cursor."""
    name, gerund = flow.name, flow.gerund or flow.name
    keys = {
        "listed": f"{name}_steps",
        "user_list": f"user_{name}_steps",
        "is_by_request": f"declarative_{gerund}",
        "has_no_ramdisk": f"{flow.prepared_as or gerund}_disable_ramdisk",
        "is_planned": "steps_validated",
        "index": f"{name}_step_index",
        "began": f"{name}_step_started_at",
        "child": f"{name}_step_child_node",
        "repeats": f"skip_current_{name}_step",
        "restarts": f"{gerund}_reboot",
        "is_polled": f"{gerund}_polling",
    }
    # A user's list with a key of its own needs no mark; a shared key does.
    del keys["is_by_request" if flow.keeps_users_list else "user_list"]
    return keys


def step_keys_of(flow: Flow) -> list[str]:
    """Return the keys of driver_internal_info that hold steps with their arguments."""
    lists = [key for name, key in keys_of(flow).items() if name in ("listed", "user_list")]
    return lists if flow.column else [*lists, _step_key(flow)]


def _step_key(flow: Flow) -> str:
    return f"{flow.name}_step"


_TIMES: Final = ("began",)


def _decoded(name: str, value: Any) -> Any:
    if name in _TIMES:
        return datetime.fromisoformat(value)
    if name == "repeats":
        # Drivers write this key, which says whether the step is skipped.
        return value is False
    return bool(value) if name in _FLAGS else value


def _encoded(name: str, value: Any) -> Any:
    """Return a value as it is stored; None if its key is left out."""
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

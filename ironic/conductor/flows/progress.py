"""Where a flow stands on its node.

The plan and the index of the running step live in driver_internal_info, the running step itself in a column that
users see. All is changed in memory here and stored by the caller's next save, which comes before the step begins: a
conductor that takes over knows what was running (S50, S60). After a failure the plan stays, for people to look at,
without the arguments of its steps: they may hold secrets, and nothing needs them any more.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ironic.conductor.flows.flow import Flow
from ironic.core.steps import Step, parse_all

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_VALIDATED = "steps_validated"

# Ends of the keys that say more about the running step: its place, since and until when it runs, on which child node.
_INDEX, _SINCE, _UNTIL, _CHILD = "index", "started_at", "waits_until", "child_node"


class Progress:
    """The place of one flow on one node."""

    def __init__(self, node: "NodeRecord", flow: Flow) -> None:
        self._node, self._flow = node, flow

    # What was asked for

    def begin(self, asked: Sequence[Step] | None = None, *, no_ramdisk: bool = False) -> None:
        """Forget an earlier run and remember what is asked for; None means that nobody asked for anything."""
        self.forget()
        if asked is not None:
            self._keep(self._flow.asked_key, [step.as_dict() for step in asked])
            self._keep(self._by_request_key, True)
        if no_ramdisk:
            self._keep(self._flow.no_ramdisk_key, True)

    @property
    def asked(self) -> list[Step] | None:
        """What a user asked for; None when the flow chooses its steps itself."""
        documents = self._kept(self._flow.asked_key)
        # Where both stand under one key, a plan that the flow has made itself is no request.
        if self._flow.asked_key == self._steps_key and not self._kept(self._by_request_key):
            return None
        return None if documents is None else parse_all(documents)

    @property
    def uses_ramdisk(self) -> bool:
        """Tell whether the machine is prepared by booting the agent."""
        return not self._kept(self._flow.no_ramdisk_key)

    # The plan and the place in it

    @property
    def is_planned(self) -> bool:
        """Tell whether the steps were decided on already."""
        return bool(self._kept(_VALIDATED))

    def adopt(self, plan: Sequence[Step]) -> None:
        """Keep the steps that will run."""
        if self._flow.column is None:
            return
        self._keep(self._steps_key, [step.as_dict() for step in plan])
        self._keep(_VALIDATED, True)

    @property
    def plan(self) -> list[Step]:
        """The steps that were decided on."""
        return parse_all(self._kept(self._steps_key) or ())

    @property
    def index(self) -> int | None:
        """Place of the running step in the plan; None before the first."""
        index: int | None = self._kept(self._of_step(_INDEX))
        return index

    @property
    def current(self) -> Step | None:
        """The running step."""
        document = getattr(self._node, self._flow.column) if self._flow.column else None
        return Step.parse(document) if document else None

    def enter(self, index: int, step: Step) -> None:
        """Show the step that is about to run."""
        if self._flow.column is not None:
            setattr(self._node, self._flow.column, step.as_dict())
            self._keep(self._of_step(_INDEX), index)
            self._keep(self._of_step(_SINCE), self._node.now().isoformat())
            self._drop(self._of_step(_CHILD))
            self._drop(self._of_step(_UNTIL))

    @property
    def seconds(self) -> int | None:
        """For how long the running step is under way."""
        if self.began is None:
            return None
        return int((self._node.now() - datetime.fromisoformat(self.began)).total_seconds())

    @property
    def began(self) -> str | None:
        """When the running step began; tells one run of a step from the next."""
        when: str | None = self._kept(self._of_step(_SINCE))
        return when

    def pause(self, seconds: float) -> None:
        """Note until when the running step waits."""
        self._keep(self._of_step(_UNTIL), (self._node.now() + timedelta(seconds=seconds)).isoformat())

    @property
    def seconds_left(self) -> float | None:
        """How long the running step waits still, less than 0 when it has waited longer; None when it has no end."""
        until: str | None = self._kept(self._of_step(_UNTIL))
        return None if until is None else (datetime.fromisoformat(until) - self._node.now()).total_seconds()

    def enter_child(self, uuid: str) -> None:
        """Show to which child node the running step is done now."""
        self._keep(self._of_step(_CHILD), uuid)

    @property
    def whereabouts(self) -> str:
        """Where the flow is, as the end of a sentence; empty when no step is running."""
        step, child = self.current, self._kept(self._of_step(_CHILD))
        if step is None:
            return ""
        return f" in step {step.name}" + (f" on child node {child}" if child else "")

    def next_index(self) -> int:
        """Return the place to go on from; the step that waited is finished unless it asked to be run again."""
        next_one = self._ended()
        self._drop(self._again_key)
        return next_one

    def abort_later(self) -> None:
        """Have the flow abort when the running step ends."""
        step = self.current
        if step is not None and self._flow.column is not None:
            setattr(self._node, self._flow.column, replace(step, abort_after=True).as_dict())

    def merge(self, plan: Sequence[Step]) -> None:
        """Keep what has run and put the rest of another plan behind it; no step of it is lost or run once too often."""
        ran = self.plan[: self._ended()]
        counted, rest = Counter(step.key for step in ran), []
        for step in plan:
            counted[step.key] -= 1
            if counted[step.key] < 0:
                rest.append(step)
        self.adopt([*ran, *rest])

    def start_over(self) -> None:
        """Forget the plan and the place in it; what was asked for stays."""
        self._leave_step()
        for key in (self._steps_key, _VALIDATED):
            self._drop(key)

    def repeat(self) -> None:
        """Have the running step run again when the flow goes on."""
        self._keep(self._again_key, False)

    def machine_restarts(self) -> None:
        """Note that the machine is restarted between two steps."""
        self._keep(f"{self._flow.gerund}_reboot", True)

    def machine_is_back(self) -> None:
        """Note that it is up again."""
        self._drop(f"{self._flow.gerund}_reboot")

    def _ended(self) -> int:
        """Return how many steps need not run any more."""
        if self.index is None:
            return 0
        return self.index if self._kept(self._again_key) is False else self.index + 1

    # The end

    def leave(self) -> None:
        """Show that no step is running any more; which ones were to run stays, without what they were given."""
        self._leave_step()
        for key in dict.fromkeys((self._steps_key, self._flow.asked_key)):
            if steps := self._kept(key):
                self._keep(key, [{name: value for name, value in step.items() if name != "args"} for step in steps])

    def _leave_step(self) -> None:
        if self._flow.column is None:
            return
        setattr(self._node, self._flow.column, {})
        self._drop(self._again_key)
        for what in (_INDEX, _SINCE, _UNTIL, _CHILD):
            self._drop(self._of_step(what))
        for what in ("reboot", "polling"):
            self._drop(f"{self._flow.gerund}_{what}")

    def forget(self) -> None:
        """Forget everything about this flow."""
        self.leave()
        flow = self._flow
        for key in (self._steps_key, flow.asked_key, flow.no_ramdisk_key, self._by_request_key, _VALIDATED):
            self._drop(key)

    @property
    def is_polled(self) -> bool:
        """Tell whether the running step's interface looks after its end itself, so that heartbeats don't count."""
        return bool(self._kept(f"{self._flow.gerund}_polling"))

    # Keys

    @property
    def _steps_key(self) -> str:
        return f"{self._flow.name}_steps"

    @property
    def _by_request_key(self) -> str | None:
        return f"declarative_{self._flow.gerund}" if self._flow.asked_key == self._steps_key else None

    def _of_step(self, what: str) -> str:
        return f"{self._flow.name}_step_{what}"

    @property
    def _again_key(self) -> str:
        return f"skip_current_{self._flow.name}_step"

    def _kept(self, key: str | None) -> Any:
        return self._node.driver_internal_info.get(key) if key else None

    def _keep(self, key: str | None, value: Any) -> None:
        if key is not None:
            self._node.set_driver_internal_info(key, value)

    def _drop(self, key: str | None) -> None:
        if key is not None:
            self._node.del_driver_internal_info(key)

"""Where a flow stands on its node.

The plan and the index of the running step live in driver_internal_info, the running step itself in a column that
users see. All is changed in memory here and stored by the caller's next save, which comes before the step begins: a
conductor that takes over knows what was running (S50, S60). After a failure the plan stays, for people to look at.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ironic.conductor.flows.flow import Flow
from ironic.core.steps import Step, parse_all

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_VALIDATED = "steps_validated"


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
        if no_ramdisk:
            self._keep(self._flow.no_ramdisk_key, True)

    @property
    def asked(self) -> list[Step] | None:
        """What a user asked for; None when the flow chooses its steps itself."""
        documents = self._kept(self._flow.asked_key)
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
        index: int | None = self._kept(self._index_key)
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
            self._keep(self._index_key, index)

    def next_index(self) -> int:
        """Return the place to go on from; the step that waited is finished unless it asked to be run again."""
        again = self._kept(self._again_key) is False
        self._drop(self._again_key)
        if self.index is None:
            return 0
        return self.index if again else self.index + 1

    def abort_later(self) -> None:
        """Have the flow abort when the running step ends."""
        step = self.current
        if step is not None and self._flow.column is not None:
            setattr(self._node, self._flow.column, replace(step, abort_after=True).as_dict())

    # The end

    def leave(self) -> None:
        """Show that no step is running any more; the plan stays."""
        if self._flow.column is None:
            return
        setattr(self._node, self._flow.column, {})
        for key in (self._index_key, self._again_key, f"{self._flow.gerund}_reboot", f"{self._flow.gerund}_polling"):
            self._drop(key)

    def forget(self) -> None:
        """Forget everything about this flow."""
        self.leave()
        for key in (self._steps_key, self._flow.asked_key, self._flow.no_ramdisk_key, _VALIDATED):
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
    def _index_key(self) -> str:
        return f"{self._flow.name}_step_index"

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

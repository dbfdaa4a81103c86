"""The phases of an inspection, in order: what is called of each hook, and which rules follow.

Inspections, dry runs and the runs of rules read them here.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.core.errors import HardwareInspectionFailure, IronicError, TakenOver
from ironic.core.errors.failure_texts import in_words
from ironic.inspection.hooks.base import InspectionHook, NamedHook
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

HookCall = Callable[[StagedTask, Mapping[str, Any], dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionPhase:
    """One phase: ``name`` is the phase of the rules that follow the hooks."""

    name: str
    # What is called of each hook; None in the phase before the node is known, which has no hooks.
    call: Callable[[InspectionHook], HookCall] | None = None
    # Every hook is called, also after one that has failed, so that a failure names everything that is wrong.
    is_check: bool = False
    # Its rules undo what they have done to the node before, where they do not apply any more.
    has_effects: bool = False

    def run_hooks(
        self,
        hooks: Iterable[NamedHook],
        task: StagedTask,
        inventory: Mapping[str, object],
        plugin_data: dict[str, object],
    ) -> Iterator[tuple[str, str | None]]:
        """Call the hooks; yield the name of each and why it failed, None when it did not."""
        if self.call is None:
            return
        for name, hook in hooks:
            reason = _failure_of(name, self.call(hook), task, inventory, plugin_data)
            yield name, reason
            if reason and not self.is_check:
                return


EARLY: Final = InspectionPhase(name="early")
WITH_NODE: Final = (
    InspectionPhase(name="preprocess", call=lambda hook: hook.preprocess, is_check=True),
    InspectionPhase(name="main", call=lambda hook: hook, has_effects=True),
)
PHASES: Final = {phase.name: phase for phase in (EARLY, *WITH_NODE)}


def _failure_of(
    name: str,
    call: HookCall,
    task: StagedTask,
    inventory: Mapping[str, object],
    plugin_data: dict[str, object],
) -> str | None:
    try:
        call(task, inventory, plugin_data)
    except TakenOver:
        raise
    except Exception as error:
        if not isinstance(error, IronicError):
            LOG.exception("Node %s: inspection hook %s raised an unexpected error", task.node.uuid, name)
        return f"hook {name}: {in_words(error, [(HardwareInspectionFailure.text, {})])}"
    return None

"""The inspection pipeline: run hooks and rules on inspection data, and store the results of each phase at once.

The order is: every hook's preprocess, the rules of phase preprocess, every hook's main call, the rules of phase main;
then inventory and plug-in data are stored. A failure names the hook or rule and the reason, and nothing of its phase is
stored; the data are kept apart from the last good ones, so that rules can be tried out on them.
Sources: doc/contract/inspection.md#processing; demands S82, S116, S117.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, IronicError, TakenOver
from ironic.inspection import inventory_storage, phases, posted_data
from ironic.inspection.hooks import base
from ironic.inspection.hooks.base import NamedHook
from ironic.inspection.inventory_storage import InventoryTexts, texts_of
from ironic.inspection.reported_data import read_only
from ironic.inspection.rules import Inspection, RuleBook
from ironic.inspection.staged_task import StagedTask, running
from ironic.inspection.task import Task

LOG = logging.getLogger(__name__)

# Logs of the ramdisk are sent with the data and not stored with them.
_NOT_KEPT = ("logs",)


class Pipeline:
    """The hooks and rules of one service; shared by all nodes and threads."""

    def __init__(self, hooks: Sequence[NamedHook], book: RuleBook | None = None) -> None:
        self.hooks = tuple(hooks)
        self.book = book or RuleBook()

    @classmethod
    def load(cls, names: Sequence[str], book: RuleBook | None = None) -> Self:
        """Return the pipeline of these hooks, or raise HookLoadError."""
        return cls(base.load_hooks(names), book)

    def run(
        self,
        task: Task,
        inventory: dict[str, object],
        plugin_data: dict[str, object] | None = None,
        *,
        is_proven: bool = True,
        before_storing: Callable[[], None] | None = None,
    ) -> None:
        """Process inspection data of a node; raises HardwareInspectionFailure.

        ``is_proven`` is true when the data certainly come from the node's machine. ``before_storing`` is called when
        all hooks and rules have succeeded; what it sets on the node is stored with their results.
        """
        staged = StagedTask(task, is_proven=is_proven)
        rules = Inspection(self.book, staged)
        data = {} if plugin_data is None else plugin_data
        posted = posted_data.copy_of({name: value for name, value in data.items() if name not in _NOT_KEPT})
        try:
            self._run_phases(staged, rules, inventory, data, posted, before_storing)
        except TakenOver:
            raise
        except BaseException as error:
            staged.discard()
            rules.keep_after_failure()
            if isinstance(error, HardwareInspectionFailure):
                _keep_refused(staged, inventory, data, posted)
            raise

    def _run_phases(
        self,
        task: StagedTask,
        rules: Inspection,
        inventory: dict[str, object],
        plugin_data: dict[str, object],
        posted: dict[str, object],
        before_storing: Callable[[], None] | None,
    ) -> None:
        shown = read_only(inventory)
        for phase in phases.WITH_NODE:
            with running(task):
                failures = list(phase.run_hooks(self.hooks, task, shown, plugin_data))
            if reasons := [reason for _name, reason in failures if reason]:
                raise HardwareInspectionFailure(error="; ".join(reasons))
            rules.run(phase, shown, plugin_data)
            if phase is not phases.WITH_NODE[-1]:
                task.commit()
        inventory_storage.backend_from_conf().keep(task, _texts(inventory, plugin_data, posted))
        store, node_id = task.store, task.node.id
        task.also_store(lambda: store.refused_reports.delete(node_id))
        rules.keep()
        if before_storing is not None:
            before_storing()
        task.commit()


def _texts(
    inventory: Mapping[str, object], plugin_data: Mapping[str, object], posted: Mapping[str, object]
) -> InventoryTexts:
    """Return the data to store; raises HardwareInspectionFailure when they are too large."""
    kept = {name: value for name, value in plugin_data.items() if name not in _NOT_KEPT}
    return texts_of(inventory, posted_data.with_difference(kept, posted), CONF.inventory.size_limit)


def _keep_refused(
    task: StagedTask,
    inventory: Mapping[str, object],
    plugin_data: Mapping[str, object],
    posted: Mapping[str, object],
) -> None:
    """Keep the data of an inspection that has failed, in the database; where nothing is kept, not these either."""
    if not inventory_storage.backend_from_conf().remembers:
        return
    try:
        task.store.refused_reports.put_texts(task.node.id, *_texts(inventory, plugin_data, posted))
    except IronicError as error:
        LOG.warning("Node %s: the report that was refused is not kept for dry runs: %s", task.node.uuid, error)

"""From what a machine reported to a node that knows it: hooks and rules in their order, each phase stored at once.

Every hook's preprocess, the rules of phase preprocess, every hook's main call, the rules of phase main; then inventory
and plug-in data are kept. A failure says which hook or rule and what it saw, and nothing of its phase is stored.
Sources: doc/contract/inspection.md#processing; demands S82, S116, S117.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, IronicError, TakenOver
from ironic.inspection import storage
from ironic.inspection.hooks import loading
from ironic.inspection.hooks.base import Inventory, PluginData
from ironic.inspection.hooks.loading import NamedHook
from ironic.inspection.read_only import read_only
from ironic.inspection.rules import Inspection, RuleBook
from ironic.inspection.staged_task import StagedTask
from ironic.inspection.storage.choice import texts_of
from ironic.inspection.task import Task

LOG = logging.getLogger(__name__)

_Call = Callable[[StagedTask, Inventory, PluginData], None]

# Logs of the ramdisk travel with the data and are no part of them.
_NOT_KEPT = ("logs",)


class Pipeline:
    """The hooks of one service and the rules they work with; shared by all nodes and threads."""

    def __init__(self, hooks: Sequence[NamedHook], book: RuleBook | None = None) -> None:
        self.hooks = tuple(hooks)
        self.book = book or RuleBook()

    @classmethod
    def load(cls, names: Sequence[str], book: RuleBook | None = None) -> Self:
        """Return the pipeline of these hooks, or raise HookLoadError."""
        return cls(loading.load(names), book)

    def run(
        self,
        task: Task,
        inventory: dict[str, object],
        plugin_data: dict[str, object] | None = None,
        *,
        is_proven: bool = True,
    ) -> None:
        """Process what a machine reported; raises HardwareInspectionFailure.

        ``is_proven`` says that it certainly is the node's machine that reported.
        """
        staged = StagedTask(task, is_proven=is_proven)
        rules = Inspection(self.book, staged)
        try:
            self._process(staged, rules, inventory, {} if plugin_data is None else plugin_data)
        except TakenOver:
            raise
        except BaseException:
            staged.discard()
            rules.keep_after_failure()
            raise

    def _process(
        self, task: StagedTask, rules: Inspection, inventory: dict[str, object], plugin_data: dict[str, object]
    ) -> None:
        shown = read_only(inventory)
        self._preprocess(task, shown, plugin_data)
        rules.run("preprocess", shown, plugin_data)
        task.commit()
        for name, hook in self.hooks:
            if reason := _failure_of(name, hook, task, shown, plugin_data):
                raise HardwareInspectionFailure(error=reason)
        rules.run("main", shown, plugin_data)
        _keep(task, inventory, plugin_data)
        rules.keep()
        task.commit()

    def _preprocess(self, task: StagedTask, inventory: Mapping[str, object], plugin_data: dict[str, object]) -> None:
        """Let every hook look at the data, then fail with all that they found."""
        reasons = [_failure_of(name, hook.preprocess, task, inventory, plugin_data) for name, hook in self.hooks]
        if found := [reason for reason in reasons if reason]:
            raise HardwareInspectionFailure(error="; ".join(found))


def _failure_of(
    name: str,
    call: Callable[[StagedTask, Mapping[str, Any], dict[str, Any]], None],
    task: StagedTask,
    inventory: Mapping[str, object],
    plugin_data: dict[str, object],
) -> str | None:
    """Call a hook; return why it failed, if it did."""
    try:
        call(task, inventory, plugin_data)
    except TakenOver:
        raise
    except HardwareInspectionFailure as error:
        return f"hook {name}: {error.facts.get('error', error)}"
    except IronicError as error:
        return f"hook {name}: {error}"
    except Exception as error:
        LOG.exception("Node %s: inspection hook %s failed in a way it should not", task.node.uuid, name)
        return f"hook {name}: unexpected {type(error).__name__}: {error}"
    return None


def _keep(task: StagedTask, inventory: dict[str, object], plugin_data: dict[str, object]) -> None:
    """Keep what was found where the operator wants it."""
    for name in _NOT_KEPT:
        plugin_data.pop(name, None)
    texts = texts_of(inventory, plugin_data, CONF.inventory.size_limit)
    storage.from_conf().keep(task, texts)

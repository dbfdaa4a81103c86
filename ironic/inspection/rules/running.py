"""Running the rules of one phase on a machine.

Chooses the rules (phase, scope, inspect interface), evaluates them over the facts, logs what they want logged, applies
what they decided and makes the calls they ask for. A rule that fails the inspection, also by a call that failed,
becomes an InspectionRuleFailure, and nothing is stored.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, InspectionRuleFailure, IronicError
from ironic.core.rules import CompiledRule, Facts, LogLine, Outcome, evaluate, selected
from ironic.core.rules.plain_data import apply
from ironic.db import Store
from ironic.inspection.rules import record
from ironic.inspection.rules.book import RuleBook
from ironic.inspection.rules.calling import make_calls
from ironic.inspection.rules.changes import apply_changes
from ironic.inspection.rules.machine_facts import facts_of
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

SCOPE_PROPERTY: Final = "inspection_scope"
# Seconds for all calls of the early phase together: a ramdisk waits for them, and one of the threads for reports.
EARLY_CALLS_TAKE: Final = 10.0
_NOBODY: Final = "data of a node that is not known yet"
_WITH_NODE: Final = ("preprocess", "main")

_LEVELS: Final = {name.lower(): level for name, level in logging.getLevelNamesMapping().items()}


class Inspection:
    """The rules of one inspection, read once."""

    def __init__(self, book: RuleBook, task: StagedTask) -> None:
        self._task = task
        concerned = concerns(task.node.inspect_interface)
        self._rules: list[CompiledRule] = book.rules(task.store, _WITH_NODE) if concerned else []
        self._explanation: list[dict[str, Any]] = []

    def run(self, phase: str, inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> None:
        """Run the rules of a phase and apply what they decide to the staged task."""
        task = self._task
        rules = chosen(self._rules, phase, task.node.properties)
        if not rules:
            return
        outcome = _evaluate(rules, facts_of(task, inventory, plugin_data))
        self._explanation += outcome.explanation
        what = f"node {task.node.uuid}"
        _finish(outcome, what)
        try:
            apply_changes(outcome.changes, task, plugin_data)
        except HardwareInspectionFailure:
            raise
        except IronicError as error:
            raise HardwareInspectionFailure(
                error=f"what inspection rules of phase {phase} want can't be: {error}"
            ) from None
        make_calls(outcome, what)

    def keep(self) -> None:
        """Have what rules did kept with what was found."""
        if self._explanation:
            self._task.also_store(record.keeper(self._task.store, self._task.node.id, self._explanation))

    def keep_after_failure(self) -> None:
        """Keep what rules did when nothing else of the inspection is stored."""
        if self._explanation:
            record.keep_alone(self._task.store, self._task.node.id, self._explanation)


def run_early(
    book: RuleBook, store: Store, inventory: Mapping[str, object], plugin_data: Mapping[str, object]
) -> list[dict[str, object]]:
    """Run the rules of the early phase, when no node is known, on the plug-in data (S115); return the explanation."""
    rules = chosen(book.rules(store, ("early",)), "early", {})
    if not rules:
        return []
    outcome = _evaluate(rules, Facts(inventory, plugin_data))
    try:
        _finish(outcome, _NOBODY)
        make_calls(outcome, _NOBODY, EARLY_CALLS_TAKE)
    except InspectionRuleFailure:
        record.keep_early(store, None, outcome.explanation)
        raise
    apply(plugin_data, outcome.changes.plugin_data)
    return outcome.explanation


def chosen(rules: Sequence[CompiledRule], phase: str, properties: Mapping[str, Any]) -> list[CompiledRule]:
    """Return the rules of a phase that concern a node with these properties; in the early phase there is none."""
    if phase == "early":
        return selected(rules, phase, None)
    return selected(rules, phase, properties.get(SCOPE_PROPERTY), CONF.inspection_rules.default_scope)


def concerns(inspect_interface: str | None) -> bool:
    """Tell whether rules act on inspections through this interface."""
    return re.search(CONF.inspection_rules.supported_interfaces, inspect_interface or "") is not None


def _evaluate(rules: list[CompiledRule], facts: Facts) -> Outcome:
    return evaluate(rules, facts, masking=CONF.inspection_rules.mask_secrets)


def _finish(outcome: Outcome, what: str) -> None:
    """Log what rules want logged, and fail if one of them did."""
    for line in outcome.log:
        _log(line, what)
    if outcome.failure is not None:
        raise outcome.failure.error(what)


def _log(line: LogLine, what: str) -> None:
    text = "(not shown, the rule is sensitive)" if line.text is None else line.text
    LOG.log(_LEVELS[line.level], "Inspection rule %s on %s: %s", line.rule, what, text)

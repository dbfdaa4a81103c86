"""Running the rules of one phase on a machine.

Chooses the rules (phase, scope, inspect interface), evaluates them over the facts, logs what they want logged and
applies what they decided. A rule that fails the inspection becomes an InspectionRuleFailure, and nothing is applied.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, IronicError
from ironic.core.rules import CompiledRule, Facts, LogLine, Outcome, evaluate, selected
from ironic.core.rules.plain_data import apply
from ironic.db import Store
from ironic.inspection.rules.book import RuleBook
from ironic.inspection.rules.changes import apply_changes
from ironic.inspection.rules.machine_facts import facts_of
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

SCOPE_PROPERTY: Final = "inspection_scope"

_LEVELS: Final = {name.lower(): level for name, level in logging.getLevelNamesMapping().items()}


class Inspection:
    """The rules of one inspection, read once."""

    def __init__(self, book: RuleBook, task: StagedTask) -> None:
        self._task = task
        self._rules: list[CompiledRule] = book.rules(task.store) if concerns(task.node.inspect_interface) else []

    def run(self, phase: str, inventory: Mapping[str, Any], plugin_data: dict[str, Any]) -> None:
        """Run the rules of a phase and apply what they decide to the staged task."""
        task = self._task
        scope = task.node.properties.get(SCOPE_PROPERTY)
        rules = selected(self._rules, phase, scope, CONF.inspection_rules.default_scope)
        if not rules:
            return
        outcome = _evaluated(rules, facts_of(task, inventory, plugin_data), f"node {task.node.uuid}")
        try:
            apply_changes(outcome.changes, task, plugin_data)
        except HardwareInspectionFailure:
            raise
        except IronicError as error:
            raise HardwareInspectionFailure(
                error=f"what inspection rules of phase {phase} want can't be: {error}"
            ) from None


def run_early(book: RuleBook, store: Store, inventory: Mapping[str, Any], plugin_data: dict[str, Any]) -> None:
    """Run the rules of the early phase, when no node is known, on the plug-in data (S115)."""
    rules = selected(book.rules(store), "early", None)
    if rules:
        outcome = _evaluated(rules, Facts(inventory, plugin_data), "data of a node that is not known yet")
        apply(plugin_data, outcome.changes.plugin_data)


def concerns(inspect_interface: str | None) -> bool:
    """Tell whether rules act on inspections through this interface."""
    return re.search(CONF.inspection_rules.supported_interfaces, inspect_interface or "") is not None


def _evaluated(rules: list[CompiledRule], facts: Facts, what: str) -> Outcome:
    outcome = evaluate(rules, facts, masking=CONF.inspection_rules.mask_secrets)
    for line in outcome.log:
        _log(line, what)
    if outcome.failure is not None:
        raise outcome.failure.error()
    return outcome


def _log(line: LogLine, what: str) -> None:
    text = "(not shown, the rule is sensitive)" if line.text is None else line.text
    LOG.log(_LEVELS[line.level], "Inspection rule %s on %s: %s", line.rule, what, text)

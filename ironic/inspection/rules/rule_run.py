"""Run the rules of one phase on the facts of a machine.

Rules are chosen by phase, scope and inspect interface and evaluated on facts: plain copies of the node, its ports and
port groups, with times as text. Secrets are still in the facts; the evaluation masks them where a rule must not see
them. The run then logs what rules want logged, applies their changes and makes their calls. A rule that fails the
inspection, also by a failed call, raises InspectionRuleFailure, and nothing is stored.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, Self

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, InspectionRuleFailure, IronicError
from ironic.core.model.node import SCOPE_PROPERTY
from ironic.core.rules import (
    AnyRule,
    Facts,
    Outcome,
    evaluate,
    selected,
)
from ironic.core.rules.paths import apply
from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
from ironic.db.node_rule_effects import Effects
from ironic.inspection import phases
from ironic.inspection.phases import InspectionPhase
from ironic.inspection.rules import explanation
from ironic.inspection.rules.rule_book import EarlyRules, RuleBook
from ironic.inspection.rules.rule_effects import apply_changes, make_calls
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

# For all calls of the early phase together: a ramdisk waits for them, and so does an API thread.
EARLY_CALLS_SECONDS: Final = 10.0
_NO_NODE: Final = "data of a node that is not known yet"
_NO_EFFECTS: Final[Effects] = {}
_LEVELS: Final = {name.lower(): level for name, level in logging.getLevelNamesMapping().items()}


class NodeWithParts(Protocol):
    """A node with its traits, ports and port groups."""

    @property
    def node(self) -> NodeRecord: ...
    @property
    def traits(self) -> Sequence[str]: ...
    @property
    def ports(self) -> Sequence[PortRecord]: ...
    @property
    def portgroups(self) -> Sequence[PortgroupRecord]: ...


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A node as it is stored, read without its lock."""

    node: NodeRecord
    traits: Sequence[str]
    ports: Sequence[PortRecord]
    portgroups: Sequence[PortgroupRecord]

    @classmethod
    def read(cls, store: Store, node: NodeRecord) -> Self:
        """Read the parts of a node."""
        ports, groups = store.ports.find(node_id=node.id), store.portgroups.find(node_id=node.id)
        return cls(node, store.traits.of([node.id])[node.id], ports, groups)


def facts_of(source: NodeWithParts, inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> Facts:
    """Return the current facts; those of a staged task include changes that are not stored yet."""
    return Facts(
        inventory=inventory,
        plugin_data=plugin_data,
        node=_plain(source.node.as_dict()) | {"traits": list(source.traits)},
        ports=[_plain(port.as_dict()) for port in source.ports],
        port_groups=[_plain(group.as_dict()) for group in source.portgroups],
    )


def facts_without_node(inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> Facts:
    """Return the facts of a machine without a node: every field of the node is empty."""
    node = dict.fromkeys(NodeRecord.form.names) | {name: kind() for name, kind in NodeRecord.form.empties.items()}
    return Facts(inventory=inventory, plugin_data=plugin_data, node=node | {"traits": []})


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in values.items()}


class Inspection:
    """The rules of the phases with a node, read once per inspection."""

    def __init__(self, book: RuleBook, task: StagedTask) -> None:
        self._task = task
        is_supported = supports_rules(task.node.inspect_interface)
        names = [phase.name for phase in phases.WITH_NODE]
        self._rules: list[AnyRule] = book.rules(task.store, names) if is_supported else []
        self._explanation: list[dict[str, Any]] = []
        self._effects: Effects | None = None  # what to store, None: what is stored stays
        self._maintenance: str | None = None
        self._is_supported = is_supported

    def run(self, phase: InspectionPhase, inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> None:
        """Run the rules of a phase and apply their results to the staged task; raises HardwareInspectionFailure."""
        task = self._task
        rules = chosen(self._rules, phase, task.node.properties)
        # Rules that are deleted have effects too.
        effects = task.store.rule_effects.of(task.node.id) if self._is_supported and phase.has_effects else {}
        if not rules and not effects:
            return
        outcome = _evaluate(rules, facts_of(task, inventory, plugin_data), effects)
        self._explanation += outcome.explanation
        self._effects = None if outcome.effects == effects else outcome.effects
        self._maintenance = outcome.failure.maintenance if outcome.failure else None
        what = f"node {task.node.uuid}"
        _log_lines(outcome, what)
        try:
            apply_changes(outcome.changes, task, plugin_data)
        except HardwareInspectionFailure:
            raise
        except IronicError as error:
            raise HardwareInspectionFailure(
                error=f"the changes of inspection rules of phase {phase.name} can't be applied: {error}"
            ) from None
        make_calls(outcome, what)

    def keep(self) -> None:
        """Store effects, counters and explanation in the transaction that stores the last phase."""
        self._keep_effects()
        if self._explanation:
            self._task.also_store(explanation.recorder(self._task.store, self._task.node.id, self._explanation))

    def keep_after_failure(self) -> None:
        """Store counters, explanation and, if a rule wants it, maintenance: nothing else is stored."""
        if self._explanation:
            explanation.record_failed(self._task.store, self._task.node.id, self._explanation)
        if self._maintenance is not None and not self._task.node.maintenance:
            self._task.node.maintenance, self._task.node.maintenance_reason = True, self._maintenance
            self._keep_effects()
            try:
                self._task.commit()
            except IronicError as error:
                LOG.warning("Node %s could not be put in maintenance: %s", self._task.node.uuid, error)

    def _keep_effects(self) -> None:
        """Store the effects of rules in the transaction that stores the phase."""
        if (effects := self._effects) is not None:
            store, node_id = self._task.store, self._task.node.id
            self._task.also_store(lambda: store.rule_effects.replace(node_id, effects))


def run_early(
    early: EarlyRules, store: Store, inventory: Mapping[str, object], plugin_data: Mapping[str, object]
) -> list[dict[str, object]]:
    """Run the rules of the early phase, when no node is known, on the plug-in data (S115); return the explanation."""
    if not early.rules:
        return []
    outcome = _evaluate(early.rules, Facts(inventory, plugin_data))
    try:
        _log_lines(outcome, _NO_NODE)
        make_calls(outcome, _NO_NODE, EARLY_CALLS_SECONDS)
    except InspectionRuleFailure:
        explanation.record_early(store, None, outcome.explanation)
        raise
    apply(plugin_data, outcome.changes.plugin_data)
    return outcome.explanation


def chosen(rules: Sequence[AnyRule], phase: InspectionPhase, properties: Mapping[str, Any]) -> list[AnyRule]:
    """Return the rules of a phase for a node with these properties; the early phase has no node and no scope."""
    if phase is phases.EARLY:
        return selected(rules, phase.name, None)
    return selected(rules, phase.name, properties.get(SCOPE_PROPERTY), CONF.inspection_rules.default_scope)


def supports_rules(inspect_interface: str | None) -> bool:
    """Return whether rules run in inspections by this interface."""
    return re.search(CONF.inspection_rules.supported_interfaces, inspect_interface or "") is not None


def _evaluate(rules: list[AnyRule], facts: Facts, effects: Effects = _NO_EFFECTS) -> Outcome:
    return evaluate(rules, facts, masking=CONF.inspection_rules.mask_secrets, effects=effects)


def _log_lines(outcome: Outcome, what: str) -> None:
    """Log what rules want logged, then raise the failure of a rule if there is one."""
    for line in outcome.log:
        text = "(not shown, the rule is sensitive)" if line.text is None else line.text
        LOG.log(_LEVELS[line.level], "Inspection rule %s on %s: %s", line.rule, what, text)
    if outcome.failure is not None:
        raise outcome.failure.error(what)

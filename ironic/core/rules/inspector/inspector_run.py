"""One run of all rules in the dialect of the standalone inspector: first check all, then clean up, then act.

1. Scope and conditions of every rule are checked on the facts as they are before any rule acts.
2. Each effect that a rule had on the node before, and does not want any more, is undone: the rule does not apply, was
   deleted, or was replaced by one that does something else (S180, S181).
3. The rules that apply act in the order of their creation. What they have made is returned with the outcome, to be
   stored with the node.

A fault ends the run; the caller then drops all changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ironic.core.model.node import SCOPE_PROPERTY
from ironic.core.rules.inspector import effects
from ironic.core.rules.inspector.checks import Unfit
from ironic.core.rules.inspector.effects import Claims, MaintenanceRequested
from ironic.core.rules.inspector.inspected_data import inspected_data
from ironic.core.rules.inspector.inspector_documents import Condition, InspectorRule
from ironic.core.rules.inspector.node_info import NodeInfo
from ironic.core.rules.inspector.rule_plugins import PluginCondition
from ironic.core.rules.limits import JUDGING, LOG_LENGTH, VERDICT, RuleFault, copied, pay_verdict
from ironic.core.rules.paths import copy
from ironic.core.rules.rule_outcomes import Effect, Failure, preview, shown_changes
from ironic.core.rules.workspace import Changes, Workspace


@dataclass(slots=True)
class _Wanted:
    """An effect that a rule wants, and the same effect of the same rule in the last inspection."""

    effect: Effect
    is_reported: bool
    before: Effect | None = None


@dataclass(slots=True)
class _Turn:
    """One rule of the run, with what is known of it so far."""

    rule: InspectorRule
    before: list[Effect]
    is_deleted: bool = False
    is_shown: bool = False
    applies: bool = False
    conditions: list[dict[str, Any]] = field(default_factory=list)
    wanted: list[_Wanted] = field(default_factory=list)
    kept: list[Effect] = field(default_factory=list)
    cleanups: list[dict[str, Any]] = field(default_factory=list)
    changes: list[Changes] = field(default_factory=list)
    error: str | None = None


class _Stopped(Exception):
    """A part of a rule could not be carried out."""

    def __init__(self, part: str, index: int, fault: RuleFault) -> None:
        self.part, self.index, self.fault = part, index, fault


class InspectorRun:
    """The run; `perform` it, then ask for its results."""

    def __init__(
        self, rules: Sequence[InspectorRule], known: Mapping[str, Sequence[Effect]], workspace: Workspace
    ) -> None:
        """``known`` are the effects on the node before, by the UUID of the rule."""
        self._workspace = workspace
        self._known = known
        self._turns = [_Turn(rule, copy(list(known.get(rule.uuid, ())))) for rule in rules]
        present = {rule.uuid for rule in rules}
        self._turns += [
            _Turn(InspectorRule(uuid, None, None, (), ()), copy(list(own)), is_deleted=True)
            for uuid, own in known.items()
            if uuid not in present
        ]
        self._claims = Claims()
        self._lasting: Effect | None = None
        self.failure: Failure | None = None

    @property
    def effects(self) -> dict[str, list[Effect]]:
        """The effects that rules have on the node after the run, by the UUID of the rule.

        After a failure these are the effects before the run, and maintenance if the failure asks for it.
        """
        if self.failure is None:
            return {turn.rule.uuid: turn.kept for turn in self._turns if turn.kept}
        found = {uuid: list(own) for uuid, own in self._known.items()}
        if self._lasting is not None:
            own = found.setdefault(self.failure.rule, [])
            own[:] = [one for one in own if not effects.same_place(one, self._lasting)] + [self._lasting]
        return found

    def perform(self) -> None:
        """Run the rules; a fault becomes the failure."""
        if not self._turns:
            return
        self._workspace.begin_rule(self._turns[0].rule)
        inventory: Any = self._workspace.scope.find("inventory")
        node = self._workspace.node.data
        data = {
            "data": inspected_data(
                inventory, self._workspace.plugin_data.data, auto_discovered=bool(node.get("auto_discovered"))
            ),
            "node": node,
        }
        scope = (node.get("properties") or {}).get(SCOPE_PROPERTY)
        for step in (lambda turn: self._check(turn, data, scope), self._clean_up, self._act):
            for turn in self._turns:
                self._workspace.begin_rule(turn.rule)
                try:
                    step(turn)
                except _Stopped as stop:
                    self._fail(turn, stop)
                    return

    def explanation(self) -> list[dict[str, Any]]:
        """Return what each rule did, as plain data that may be shown."""
        return [self._explained(turn) for turn in self._turns if turn.is_shown]

    def _check(self, turn: _Turn, data: Mapping[str, Any], scope: object) -> None:
        """Find out whether a rule applies, and which effects it wants."""
        rule = turn.rule
        if turn.is_deleted or (rule.scope and rule.scope != scope):
            return
        turn.is_shown = True
        turn.applies = all(self._holds(turn, index, one, data) for index, one in enumerate(rule.conditions))
        if not turn.applies:
            return
        remaining = turn.before
        for index, action in enumerate(rule.actions):
            try:
                wanted = _Wanted(action.wanted(data["data"], self._workspace.budget), action.is_reported)
            except RuleFault as fault:
                raise _Stopped("actions", index, fault) from None
            wanted.before = next((one for one in remaining if effects.same_place(one, wanted.effect)), None)
            remaining = [one for one in remaining if one is not wanted.before]
            turn.wanted.append(wanted)
        turn.before = remaining

    def _holds(self, turn: _Turn, index: int, condition: Condition, data: Mapping[str, Any]) -> bool:
        """Return whether a condition holds, and add it to the explanation."""
        entry: dict[str, Any] = {"op": condition.op, "args": condition.args}
        turn.conditions.append(entry)
        try:
            found = condition.path.find(data[condition.scheme], self._workspace.budget)
            if self._workspace.is_masked:
                entry["values"] = {"field": preview(found)}
            entry["verdict"] = self._verdict(condition, found)
        except RuleFault as fault:
            raise _Stopped("conditions", index, fault) from None
        return bool(entry["verdict"])

    def _verdict(self, condition: Condition, found: list[object]) -> bool:
        """Return the verdict on the values of the field, joined as ``multiple`` says; a missing field is none."""
        if not found:
            if not condition.check.allows_none:
                return False
            found = [None]
        verdict = False
        for value in found[:1] if condition.multiple == "first" else found:
            verdict = self._compare(condition, value)
            if verdict == (condition.multiple == "any"):
                return verdict
        return verdict

    def _compare(self, condition: Condition, value: object) -> bool:
        """Return the verdict on one value."""
        budget = self._workspace.budget
        budget.spend(JUDGING)
        if isinstance(condition.check, PluginCondition):
            own = copied(value, budget)
            return condition.check.holds(NodeInfo(self._workspace), own, condition.reference) != condition.invert
        check = condition.check
        pay_verdict(check.name, check.cost(value, condition.reference, min(VERDICT, budget.left)), budget)
        try:
            return check.holds(value, condition.reference) != condition.invert
        except Unfit:
            return False

    def _clean_up(self, turn: _Turn) -> None:
        """Undo the effects that the rule does not want any more."""
        if not turn.before:
            return
        turn.is_shown = True
        self._workspace.writer.reported = False
        marks = self._workspace.marks()
        for index, effect in enumerate(turn.before):
            try:
                left = effects.undo(self._workspace, effect)
            except RuleFault as fault:
                raise _Stopped("cleanups", index, fault) from None
            shown = {"action": effect["action"], "at": effect["at"], "undone": left is None}
            turn.cleanups.append(shown if left is None else shown | {"reason": left})
        self._finish(turn, marks, "cleanups", len(turn.before) - 1)

    def _act(self, turn: _Turn) -> None:
        """Make the effects that the rule wants."""
        marks = self._workspace.marks()
        for index, wanted in enumerate(turn.wanted):
            self._workspace.writer.reported = wanted.is_reported
            try:
                made = effects.apply(self._workspace, wanted.effect, wanted.before, self._claims)
            except RuleFault as fault:
                if isinstance(fault, MaintenanceRequested):
                    self._lasting = wanted.effect | {"value": str(fault)}
                raise _Stopped("actions", index, fault) from None
            if made is not None:
                turn.kept.append(made)
        if turn.wanted:
            self._finish(turn, marks, "actions", len(turn.wanted) - 1)

    def _finish(self, turn: _Turn, marks: list[int], part: str, index: int) -> None:
        """Note the changes of a rule and check the node after them; a fault is reported for the last part."""
        turn.changes.append(self._workspace.changes(marks))
        try:
            self._workspace.check_node(marks)
        except RuleFault as fault:
            raise _Stopped(part, index, fault) from None

    def _fail(self, turn: _Turn, stop: _Stopped) -> None:
        text = str(stop.fault)[:LOG_LENGTH]
        reason = None if self._lasting is None else str(self._lasting["value"])
        rule = turn.rule
        self.failure = Failure(rule.uuid, rule.phase, stop.part, stop.index, type(stop.fault).__name__, text, reason)
        turn.is_shown, turn.error = True, str(self.failure)

    def _explained(self, turn: _Turn) -> dict[str, Any]:
        joined = Changes(
            node=[one for changes in turn.changes for one in changes.node],
            ports={uuid: patch for changes in turn.changes for uuid, patch in changes.ports.items()},
            plugin_data=[one for changes in turn.changes for one in changes.plugin_data],
        )
        entry: dict[str, Any] = {
            "uuid": turn.rule.uuid,
            "description": turn.rule.description,
            "applies": turn.applies,
            "conditions": turn.conditions,
            "changes": shown_changes(joined, hiding=not self._workspace.is_masked),
        }
        more = {"cleanups": turn.cleanups, "deleted": turn.is_deleted, "error": turn.error}
        return entry | {name: value for name, value in more.items() if value}

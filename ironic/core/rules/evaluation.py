"""Running rules over facts: same input, same output.

Judges the conditions of one rule after the other and does the actions of those that hold. The first failure ends it:
the caller gets it together with what had been changed, and drops the changes. Nothing here reads a clock, a file or a
database, and the facts are never written to.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ironic.core.rules import calls
from ironic.core.rules.arguments import values_of
from ironic.core.rules.calls import PlannedCall
from ironic.core.rules.documents import shown
from ironic.core.rules.faults import RuleFault, TooMuchWork
from ironic.core.rules.interpolation import Scope
from ironic.core.rules.limits import ITEMS_TOLD, JUDGING, LOG_LENGTH, STEPS, VERDICT
from ironic.core.rules.outcome import Failure, Outcome, preview
from ironic.core.rules.plain_data import Patch
from ironic.core.rules.rule import CompiledRule, Condition, Deed
from ironic.core.rules.vocabulary import Operator
from ironic.core.rules.workspace import Changes, Facts, LogLine, Masking, Workspace
from ironic.core.secrets import REPLACEMENT


class _Stopped(Exception):
    """A part of a rule could not be carried out."""

    def __init__(self, part: str, index: int, fault: RuleFault) -> None:
        self.part, self.index, self.fault = part, index, fault


class _Run:
    """One rule being evaluated."""

    def __init__(self, rule: CompiledRule, workspace: Workspace) -> None:
        self.rule = rule
        self._workspace = workspace
        self._verdicts: list[dict[str, Any]] = []
        self.applies: bool | None = None
        self.calls: list[PlannedCall] = []
        self.failure: Failure | None = None
        self._marks = workspace.marks()
        self._log_mark = len(workspace.log)

    def perform(self) -> None:
        """Judge, then act."""
        self._workspace.act_for(self.rule)
        try:
            self.applies = all(self._holds(index, one) for index, one in enumerate(self.rule.conditions))
            if self.applies:
                for index, deed in enumerate(self.rule.actions):
                    self._act(index, deed)
                self._check_whole()
        except _Stopped as stop:
            self.failure = self._failure(stop)

    def log_lines(self) -> list[LogLine]:
        """Return what the rule wants to have logged."""
        lines = self._workspace.log[self._log_mark :]
        return [LogLine(self.rule.uuid, level, None if self.rule.sensitive else text) for level, text in lines]

    def explanation(self) -> dict[str, object]:
        """Return what happened, as plain data that may be shown."""
        told: dict[str, Any] = {
            "uuid": self.rule.uuid,
            "description": self.rule.description,
            "applies": bool(self.applies),
            "conditions": self._verdicts,
        }
        if not self.rule.sensitive:
            told["changes"] = _shown(self._workspace.changes(self._marks), hiding=not self._workspace.is_masked)
            if self.calls:
                told["calls"] = [calls.shown(one.call, hiding=not self._workspace.is_masked) for one in self.calls]
        return told | ({"error": str(self.failure)} if self.failure else {})

    def _holds(self, index: int, condition: Condition) -> bool:
        """Judge one condition; a loop is judged item by item and then joined."""
        told: dict[str, Any] = {}
        try:
            verdict = self._verdict(condition, told)
        except RuleFault as fault:
            raise _Stopped("conditions", index, fault) from None
        finally:
            self._tell(condition, told)
        told["verdict"] = verdict
        return verdict

    def _verdict(self, condition: Condition, told: dict[str, object]) -> bool:
        if condition.loop is None:
            return self._judge(condition, self._workspace.scope, told)
        verdicts: list[dict[str, Any]] = []
        told["items"] = verdicts
        judged = False
        for scope in self._scopes(condition, _SINGLE.get(condition.multiple)):
            item: dict[str, Any] = {}
            if len(verdicts) < ITEMS_TOLD:
                verdicts.append(item)
            judged = verdict = self._judge(condition, scope, item)
            item["verdict"] = verdict
            if verdict == _DECIDING.get(condition.multiple):
                return verdict
        return judged if condition.multiple in _SINGLE else condition.multiple == "all"

    def _judge(self, condition: Condition, scope: Scope, told: dict[str, object]) -> bool:
        budget = self._workspace.budget
        budget.spend(JUDGING)
        values = values_of(condition.arguments, scope, budget)
        self._pay(condition.operator, values)
        if not self.rule.sensitive and self._workspace.is_masked:
            told["values"] = {name: preview(value) for name, value in values.items()}
        return condition.operator.judge(**values) != condition.negated

    def _pay(self, operator: Operator, values: Mapping[str, object]) -> None:
        """Pay for a verdict before it is reached."""
        budget = self._workspace.budget
        steps = operator.cost(values, min(VERDICT, budget.left))
        if steps > VERDICT:
            raise TooMuchWork(
                f"operator {operator.name} would take more than the {VERDICT} steps that are allowed for one verdict: "
                "give it less to look at"
            )
        budget.spend(steps)

    def _act(self, index: int, deed: Deed) -> None:
        mark = len(self._workspace.calls)
        try:
            for scope in self._scopes(deed):
                self._workspace.budget.spend(JUDGING)
                self._workspace.writer.reported = any(one.is_reported(scope) for one in deed.arguments)
                deed.action.perform(self._workspace, **values_of(deed.arguments, scope, self._workspace.budget))
        except RuleFault as fault:
            raise _Stopped("actions", index, fault) from None
        self.calls += [
            PlannedCall(call, self.rule.uuid, self.rule.phase, index, self.rule.sensitive)
            for call in self._workspace.calls[mark:]
        ]

    def _check_whole(self) -> None:
        """Judge the node as the rule leaves it; a fault is told of its last action."""
        try:
            self._workspace.check_node(self._marks)
        except RuleFault as fault:
            raise _Stopped("actions", len(self.rule.actions) - 1, fault) from None

    def _scopes(self, part: Condition | Deed, chosen: slice | None = None) -> Iterator[Scope]:
        """Yield a scope per item of the loop: a list's items, an object as a whole; without a loop just one."""
        scope = self._workspace.scope
        if part.loop is None:
            yield scope
            return
        items = part.loop.render(scope, self._workspace.budget)
        if isinstance(items, dict):
            items = [items]
        if items is not None and not isinstance(items, list):
            raise RuleFault("the loop is neither a list nor an object")
        reported = any(map(scope.is_reported, part.loop.lookups))
        self._workspace.budget.spend(len(items or ()))
        # A copy, though a shallow one: actions may lengthen the list that they loop over.
        for item in (items or [])[chosen or slice(None)]:
            yield scope.with_item(item, reported=reported)

    def _tell(self, condition: Condition, told: dict[str, object]) -> None:
        if self.rule.sensitive:
            told.pop("items", None)
            told |= {"op": None, "args": None}
        else:
            told |= {"op": condition.op, "args": condition.args}
        self._verdicts.append(told)

    def _failure(self, stop: _Stopped) -> Failure:
        text = None if self.rule.sensitive else str(stop.fault)[:LOG_LENGTH]
        kind = type(stop.fault).__name__
        return Failure(self.rule.uuid, self.rule.phase, stop.part, stop.index, kind, text)


# The verdict that decides a loop at once, and the items that count when just one does.
_DECIDING = {"any": True, "all": False}
_SINGLE = {"first": slice(0, 1), "last": slice(-1, None)}


def evaluate(
    rules: Sequence[CompiledRule], facts: Facts, *, masking: Masking = "always", steps: int = STEPS
) -> Outcome:
    """Run the rules, which are of one phase and in their order, over the facts."""
    workspace = Workspace(facts, masking, steps)
    explanation: list[dict[str, Any]] = []
    log: list[LogLine] = []
    planned: list[PlannedCall] = []
    failure = None
    for rule in rules:
        run = _Run(rule, workspace)
        run.perform()
        explanation.append(run.explanation())
        log.extend(run.log_lines())
        planned.extend(run.calls)
        failure = run.failure
        if failure is not None:
            break
    return Outcome(workspace.changes(), explanation, log, failure, [] if failure else planned)


def _shown(changes: Changes, *, hiding: bool) -> dict[str, object]:
    """Return changes as they may be shown; of a rule that saw secrets no value is (it may have copied one)."""

    def told(patch: Patch) -> Patch:
        return [one | {"value": REPLACEMENT} if hiding and "value" in one else shown(one) for one in patch]

    ports = {uuid: told(patch) for uuid, patch in changes.ports.items()}
    return {"node": told(changes.node), "ports": ports, "plugin_data": told(changes.plugin_data)}

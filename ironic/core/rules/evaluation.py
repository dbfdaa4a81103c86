"""Evaluate rules over facts, and describe the outcome.

Rules in the dialect of the standalone inspector run first, all together (`inspector.inspector_run`). The others are
evaluated one after another: if the conditions of a rule hold, its actions are performed. The first failure ends the
evaluation; the outcome then has the failure and the changes made so far, which the caller drops.
Clocks, files and databases are not read and the facts are not changed, so the same input gives the same outcome.

The outcome is plain data. Explanation and failure contain no secrets, and of sensitive rules only the verdicts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ironic.core.rules import calls
from ironic.core.rules.calls import PlannedCall
from ironic.core.rules.compiled_rules import AnyRule, BoundAction, CompiledRule, Condition
from ironic.core.rules.inspector.inspector_documents import InspectorRule
from ironic.core.rules.inspector.inspector_run import InspectorRun
from ironic.core.rules.interpolation import Scope, item_source
from ironic.core.rules.limits import (
    ITEMS_SHOWN,
    JUDGING,
    LOG_LENGTH,
    STEPS,
    VERDICT,
    FailRequested,
    RuleFault,
    TooMuchWork,
    pay_verdict,
)
from ironic.core.rules.rule_outcomes import Effect, Failure, Outcome, preview, shown_changes
from ironic.core.rules.signatures import values_of
from ironic.core.rules.workspace import Facts, LogLine, Masking, Workspace

_NO_EFFECTS: Mapping[str, Sequence[Effect]] = {}


class _Stopped(Exception):
    """A condition or action of a rule could not be evaluated."""

    def __init__(self, part: str, index: int, fault: RuleFault) -> None:
        self.part, self.index, self.fault = part, index, fault


class _Run:
    """The evaluation of one rule."""

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
        """Evaluate the conditions, then perform the actions if all hold; a fault becomes the failure."""
        self._workspace.begin_rule(self.rule)
        try:
            self.applies = all(self._holds(index, one) for index, one in enumerate(self.rule.conditions))
            if self.applies:
                for index, action in enumerate(self.rule.actions):
                    self._act(index, action)
                self._check_node()
        except _Stopped as stop:
            text = None if self.rule.sensitive else f"{stop.fault}{self._reason_of(stop)}"[:LOG_LENGTH]
            kind = type(stop.fault).__name__
            self.failure = Failure(
                self.rule.uuid,
                self.rule.phase,
                stop.part,
                stop.index,
                kind,
                text,
                description=self.rule.description,
            )

    def _reason_of(self, stop: _Stopped) -> str:
        """Return what the failed part did not find, which may be why it failed; not for the action ``fail``."""
        if isinstance(stop.fault, FailRequested | TooMuchWork) or not self._workspace.is_masked:
            return ""
        parts: Sequence[Condition | BoundAction] = getattr(self.rule, stop.part)
        lookups = [lookup for one in parts[stop.index].arguments for lookup in one.lookups]
        absent = dict.fromkeys(self._workspace.missing[one] for one in lookups if one in self._workspace.missing)
        return f" ({'; '.join(absent)})" if absent else ""

    def log_lines(self) -> list[LogLine]:
        """Return the log lines of the rule, without the texts of a sensitive one."""
        lines = self._workspace.log[self._log_mark :]
        return [LogLine(self.rule.uuid, level, None if self.rule.sensitive else text) for level, text in lines]

    def explanation(self) -> dict[str, object]:
        """Return what the rule did, as plain data that may be shown."""
        document: dict[str, Any] = {
            "uuid": self.rule.uuid,
            "description": self.rule.description,
            "applies": bool(self.applies),
            "conditions": self._verdicts,
        }
        if not self.rule.sensitive:
            hiding = not self._workspace.is_masked
            document["changes"] = shown_changes(self._workspace.changes(self._marks), hiding=hiding)
            if self._workspace.missing and not hiding:
                document["missing"] = list(dict.fromkeys(self._workspace.missing.values()))
            if self.calls:
                document["calls"] = [calls.shown_call(one.call, hiding=hiding) for one in self.calls]
        if self.failure:
            document["error"] = str(self.failure)
        return document

    def _holds(self, index: int, condition: Condition) -> bool:
        """Return whether one condition holds, and add it to the explanation; a fault stops the rule."""
        entry: dict[str, Any] = {}
        try:
            verdict = self._verdict(condition, entry)
        except RuleFault as fault:
            raise _Stopped("conditions", index, fault) from None
        finally:
            if self.rule.sensitive:
                entry.pop("items", None)
                entry |= {"op": None, "args": None}
            else:
                entry |= {"op": condition.op, "args": condition.args}
            self._verdicts.append(entry)
        entry["verdict"] = verdict
        return verdict

    def _verdict(self, condition: Condition, entry: dict[str, object]) -> bool:
        """Return the verdict on a condition; with a loop, that on its items joined as ``multiple`` says."""
        if condition.loop is None:
            return self._compare(condition, self._workspace.scope, entry)
        items: list[dict[str, Any]] = []
        entry["items"] = items
        last = False
        for scope in self._scopes(condition, _SINGLE.get(condition.multiple)):
            item: dict[str, Any] = {}
            if len(items) < ITEMS_SHOWN:
                items.append(item)
            last = item["verdict"] = self._compare(condition, scope, item)
            if last == _DECIDING.get(condition.multiple):
                return last
        return last if condition.multiple in _SINGLE else condition.multiple == "all"

    def _compare(self, condition: Condition, scope: Scope, entry: dict[str, object]) -> bool:
        """Return the verdict of the operator in one scope."""
        budget = self._workspace.budget
        budget.spend(JUDGING)
        values = values_of(condition.arguments, scope, budget)
        operator = condition.operator
        pay_verdict(operator.name, operator.cost(values, min(VERDICT, budget.left)), budget)
        if not self.rule.sensitive and self._workspace.is_masked:
            entry["values"] = {name: preview(value) for name, value in values.items()}
        return operator.function(**values) != condition.negated

    def _act(self, index: int, bound: BoundAction) -> None:
        mark = len(self._workspace.calls)
        try:
            for scope in self._scopes(bound):
                self._workspace.budget.spend(JUDGING)
                self._workspace.writer.reported = any(one.is_reported(scope) for one in bound.arguments)
                bound.action.perform(self._workspace, **values_of(bound.arguments, scope, self._workspace.budget))
        except RuleFault as fault:
            raise _Stopped("actions", index, fault) from None
        self.calls += [
            PlannedCall(call, self.rule.uuid, self.rule.phase, index, self.rule.sensitive)
            for call in self._workspace.calls[mark:]
        ]

    def _check_node(self) -> None:
        """Check the node with all changes of the rule; a fault is reported for the last action."""
        try:
            self._workspace.check_node(self._marks)
        except RuleFault as fault:
            raise _Stopped("actions", len(self.rule.actions) - 1, fault) from None

    def _scopes(self, part: Condition | BoundAction, chosen: slice | None = None) -> Iterator[Scope]:
        """Yield a scope for each item of the loop (an object is one item), or one scope without a loop."""
        scope = self._workspace.scope
        if part.loop is None:
            yield scope
            return
        items = part.loop.render(scope, self._workspace.budget)
        if isinstance(items, dict):
            items = [items]
        if items is not None and not isinstance(items, list):
            raise RuleFault("the loop is neither a list nor an object")
        self._workspace.budget.spend(len(items or ()))
        # A shallow copy: actions may extend the list that they loop over.
        for index, item in list(enumerate(items or ()))[chosen or slice(None)]:
            yield scope.with_item(item, reported=item_source(part.loop, index))


# The verdict that ends a loop at once, and the item that alone decides.
_DECIDING = {"any": True, "all": False}
_SINGLE = {"first": slice(0, 1), "last": slice(-1, None)}


def evaluate(
    rules: Sequence[AnyRule],
    facts: Facts,
    *,
    masking: Masking = "always",
    steps: int = STEPS,
    effects: Mapping[str, Sequence[Effect]] = _NO_EFFECTS,
) -> Outcome:
    """Run the rules of one phase, in the given order, over the facts; ``steps`` limits the work of all together.

    ``effects`` are those that rules, deleted ones among them, have had on the node before, by the UUID of the rule.
    """
    workspace = Workspace(facts, masking, steps)
    first = InspectorRun([one for one in rules if isinstance(one, InspectorRule)], effects, workspace)
    first.perform()
    explanation = first.explanation()
    log: list[LogLine] = []
    planned: list[PlannedCall] = []
    failure = first.failure
    for rule in rules:
        if failure is not None:
            break
        if isinstance(rule, InspectorRule):
            continue
        run = _Run(rule, workspace)
        run.perform()
        explanation.append(run.explanation())
        log.extend(run.log_lines())
        planned.extend(run.calls)
        failure = run.failure
    return Outcome(workspace.changes(), explanation, log, failure, [] if failure else planned, first.effects)

"""Check and compile rule documents, and select the rules of a phase in order.

Posted rules and those of the built-in file are compiled alike. Compiling checks everything that does not depend on
facts, so that the form of a stored rule can't fail an inspection; errors name the part of the rule and the argument.
Compiled rules are immutable: threads may share them, and they are valid until the stored rule changes.

Rules run by descending priority, then in the order of creation, in which the caller passes them (S121, S122). A rule
with a scope runs on nodes of that scope only; while the node is not known, rules without a scope run (S124).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from ironic.core.rules.argument_kinds import BadArgument
from ironic.core.rules.inspector.inspector_documents import InspectorRule
from ironic.core.rules.interpolation import ITEM, BadExpression, Lookup, Template, template
from ironic.core.rules.rule_forms import check_plain, invalid, parts_of, text_of, uuid_of
from ironic.core.rules.signatures import Arguments, Signature
from ironic.core.rules.vocabulary import ACTIONS, OPERATORS, Action, Operator

Phase = Literal["early", "preprocess", "main"]
Multiple = Literal["any", "all", "first", "last"]

PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
MULTIPLES: Final[tuple[Multiple, ...]] = get_args(Multiple)

# The priorities of users' rules; built-in rules may have others (S121).
LOWEST_PRIORITY: Final = 0
HIGHEST_PRIORITY: Final = 9999


@dataclass(frozen=True, slots=True)
class Condition:
    """One compiled condition."""

    op: str
    args: Any  # as posted, for explanations
    operator: Operator
    negated: bool
    arguments: Arguments
    loop: Template | None
    multiple: Multiple


@dataclass(frozen=True, slots=True)
class BoundAction:
    """One compiled action of a rule."""

    action: Action
    arguments: Arguments
    loop: Template | None


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One compiled rule."""

    uuid: str
    description: str | None
    priority: int
    phase: Phase
    scope: str | None
    sensitive: bool
    built_in: bool
    conditions: tuple[Condition, ...]
    actions: tuple[BoundAction, ...]

    @property
    def calls_out(self) -> bool:
        """Return whether running the rule may wait for another service: `api-call`, and words of third parties."""
        acts = any(bound.action.calls_out for bound in self.actions)
        return acts or any(condition.operator.calls_out for condition in self.conditions)


# A rule of either dialect.
AnyRule = CompiledRule | InspectorRule

_KEYS: Final = frozenset({"uuid", "description", "priority", "phase", "scope", "sensitive", "conditions", "actions"})
_CONDITION_KEYS: Final = frozenset({"op", "args", "loop", "multiple"})

_EARLY_NAMES: Final = frozenset({"inventory", "plugin_data"})
_NAMES: Final = _EARLY_NAMES | {"node", "ports", "port_groups"}


def check_rule(document: object, *, built_in: bool = False) -> CompiledRule:
    """Compile a rule document; raises InvalidParameterValue with the first fault."""
    if not isinstance(document, dict):
        raise invalid("a rule must be an object")
    if unknown := document.keys() - _KEYS - ({"built_in"} if built_in else set()):
        raise invalid(f"a rule has no field {', '.join(sorted(map(str, unknown)))}")
    check_plain(document)
    phase = _phase(document.get("phase"))
    names = _EARLY_NAMES if phase == "early" else _NAMES
    return CompiledRule(
        uuid=uuid_of(document.get("uuid")),
        description=text_of(document, "description"),
        priority=_priority(document.get("priority"), built_in),
        phase=phase,
        scope=text_of(document, "scope"),
        sensitive=_sensitive(document.get("sensitive")),
        built_in=built_in,
        conditions=tuple(_condition(part, names, where) for where, part in parts_of(document, "conditions")),
        actions=tuple(
            _bound_action(part, names, phase, where) for where, part in parts_of(document, "actions", required=True)
        ),
    )


def _condition(part: Mapping[str, object], names: Collection[str], where: str) -> Condition:
    if unknown := part.keys() - _CONDITION_KEYS:
        raise invalid(f"{where} has no field {', '.join(sorted(map(str, unknown)))}")
    op = _op(part, where)
    bare = op.removeprefix("!").lstrip(" ") if op.startswith("!") else op
    if (operator := OPERATORS.get(bare)) is None:
        raise invalid(f"{where}: there is no operator '{bare[:80]}'; known: {', '.join(sorted(OPERATORS))}")
    multiple = part.get("multiple", "any")
    if multiple not in MULTIPLES:
        raise invalid(f"{where}: multiple must be one of {', '.join(MULTIPLES)}")
    return Condition(
        op=op,
        args=part.get("args"),
        operator=operator,
        negated=op.startswith("!"),
        arguments=_arguments(operator.signature, part, names, f"{where} ({bare})"),
        loop=_loop(part, names, where),
        multiple=multiple,
    )


def _bound_action(part: Mapping[str, object], names: Collection[str], phase: Phase, where: str) -> BoundAction:
    op = _op(part, where)
    if (action := ACTIONS.get(op)) is None:
        raise invalid(f"{where}: there is no action '{op[:80]}'; known: {', '.join(sorted(ACTIONS))}")
    if phase == "early" and not action.early:
        raise invalid(f"{where}: action {op} needs a node, and there is none in the early phase")
    return BoundAction(action, _arguments(action.signature, part, names, f"{where} ({op})"), _loop(part, names, where))


def _arguments(signature: Signature, part: Mapping[str, object], names: Collection[str], where: str) -> Arguments:
    if "args" not in part:
        raise invalid(f"{where}: args is missing")
    known = {*names, ITEM} if "loop" in part else names
    try:
        return signature.bind(part["args"], known)
    except BadArgument as error:
        raise invalid(f"{where}: {error}") from None


def _loop(part: Mapping[str, object], names: Collection[str], where: str) -> Template | None:
    if "loop" not in part:
        return None
    try:
        made = template(part["loop"], names)
    except BadExpression as error:
        raise invalid(f"{where}: loop: {error}") from None
    if isinstance(part["loop"], list | dict) or isinstance(made, Lookup):
        return made
    raise invalid(f"{where}: loop must be a list, an object, or text that is exactly one expression")


def _op(part: Mapping[str, object], where: str) -> str:
    if not isinstance(op := part.get("op"), str):
        raise invalid(f"{where}: op is missing or not text")
    return op


def _phase(value: Any) -> Phase:
    if value is None:
        return "main"
    if value not in PHASES:
        raise invalid(f"phase must be one of {', '.join(PHASES)}")
    return value  # type: ignore[no-any-return]  # one of PHASES


def _priority(value: object, built_in: bool) -> int:
    if value is None:
        return LOWEST_PRIORITY
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid("priority must be a whole number")
    if not built_in and not LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY:
        raise invalid(f"priority must be {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}; others are for built-in rules")
    return value


def _sensitive(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise invalid("sensitive must be true or false")


def in_order(rules: Iterable[AnyRule]) -> list[AnyRule]:
    """Return the rules in the order in which they run."""
    return sorted(rules, key=lambda rule: -rule.priority)


def selected(
    rules: Iterable[AnyRule], phase: str, scope: str | None, default_scope: str | None = None
) -> list[AnyRule]:
    """Return the rules of a phase for a node's scope; ``default_scope`` is that of stored rules without a scope.

    Rules of the standalone inspector are selected whatever their scope: those of another scope may have to clean up.
    """
    found: list[AnyRule] = []
    for rule in rules:
        own = scope_of(rule, default_scope)
        if isinstance(rule, InspectorRule):
            rule = replace(rule, scope=own)
        elif own not in (None, scope):
            continue
        if rule.phase == phase:
            found.append(rule)
    return found


def scope_of(rule: AnyRule, default_scope: str | None) -> str | None:
    """Return the scope of a rule; the default does not apply to built-in rules."""
    return rule.scope or (None if rule.built_in else default_scope) or None

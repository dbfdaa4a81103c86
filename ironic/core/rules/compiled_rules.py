"""Check and compile rule documents, and select the rules of a phase in order.

Posted rules and those of the built-in file are compiled alike. Compiling checks everything that does not depend on
facts, so that the form of a stored rule can't fail an inspection; errors name the part of the rule and the argument.
Compiled rules are immutable: threads may share them, and they are valid until the stored rule changes.

Rules run by descending priority, then in the order of creation, in which the caller passes them (S121, S122). A rule
with a scope runs on nodes of that scope only; while the node is not known, rules without a scope run (S124).
"""

import math
import uuid as uuids
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.argument_kinds import BadArgument
from ironic.core.rules.interpolation import ITEM, BadExpression, Lookup, Template, template
from ironic.core.rules.limits import DEPTH
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


_KEYS: Final = frozenset({"uuid", "description", "priority", "phase", "scope", "sensitive", "conditions", "actions"})
_CONDITION_KEYS: Final = frozenset({"op", "args", "loop", "multiple"})
_LONGEST_TEXT: Final = 255
_MOST_PARTS: Final = 1000
_LARGEST_NUMBER: Final = 2**63

_EARLY_NAMES: Final = frozenset({"inventory", "plugin_data"})
_NAMES: Final = _EARLY_NAMES | {"node", "ports", "port_groups"}


def check_rule(document: object, *, built_in: bool = False) -> CompiledRule:
    """Compile a rule document; raises InvalidParameterValue with the first fault."""
    if not isinstance(document, dict):
        raise _invalid("a rule must be an object")
    if unknown := document.keys() - _KEYS - ({"built_in"} if built_in else set()):
        raise _invalid(f"a rule has no field {', '.join(sorted(map(str, unknown)))}")
    _check_plain(document)
    phase = _phase(document.get("phase"))
    names = _EARLY_NAMES if phase == "early" else _NAMES
    return CompiledRule(
        uuid=_uuid(document.get("uuid")),
        description=_text(document, "description"),
        priority=_priority(document.get("priority"), built_in),
        phase=phase,
        scope=_text(document, "scope"),
        sensitive=_sensitive(document.get("sensitive")),
        built_in=built_in,
        conditions=tuple(_condition(part, names, where) for where, part in _parts(document, "conditions")),
        actions=tuple(
            _bound_action(part, names, phase, where) for where, part in _parts(document, "actions", required=True)
        ),
    )


def _condition(part: Mapping[str, object], names: Collection[str], where: str) -> Condition:
    if unknown := part.keys() - _CONDITION_KEYS:
        raise _invalid(f"{where} has no field {', '.join(sorted(map(str, unknown)))}")
    op = _op(part, where)
    bare = op.removeprefix("!").lstrip(" ") if op.startswith("!") else op
    if (operator := OPERATORS.get(bare)) is None:
        raise _invalid(f"{where}: there is no operator '{bare[:80]}'; known: {', '.join(sorted(OPERATORS))}")
    multiple = part.get("multiple", "any")
    if multiple not in MULTIPLES:
        raise _invalid(f"{where}: multiple must be one of {', '.join(MULTIPLES)}")
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
        raise _invalid(f"{where}: there is no action '{op[:80]}'; known: {', '.join(sorted(ACTIONS))}")
    if phase == "early" and not action.early:
        raise _invalid(f"{where}: action {op} needs a node, and there is none in the early phase")
    return BoundAction(action, _arguments(action.signature, part, names, f"{where} ({op})"), _loop(part, names, where))


def _arguments(signature: Signature, part: Mapping[str, object], names: Collection[str], where: str) -> Arguments:
    if "args" not in part:
        raise _invalid(f"{where}: args is missing")
    known = {*names, ITEM} if "loop" in part else names
    try:
        return signature.bind(part["args"], known)
    except BadArgument as error:
        raise _invalid(f"{where}: {error}") from None


def _loop(part: Mapping[str, object], names: Collection[str], where: str) -> Template | None:
    if "loop" not in part:
        return None
    try:
        made = template(part["loop"], names)
    except BadExpression as error:
        raise _invalid(f"{where}: loop: {error}") from None
    if isinstance(part["loop"], list | dict) or isinstance(made, Lookup):
        return made
    raise _invalid(f"{where}: loop must be a list, an object, or text that is exactly one expression")


def _parts(
    document: Mapping[str, object], name: str, *, required: bool = False
) -> list[tuple[str, Mapping[str, object]]]:
    """Return conditions or actions, each with its name for messages."""
    parts = document.get(name)
    if required and not parts:
        raise _invalid(f"{name} must have at least one item")
    if parts is None:
        return []
    if not isinstance(parts, list) or len(parts) > _MOST_PARTS:
        raise _invalid(f"{name} must be a list of at most {_MOST_PARTS} objects")
    for index, part in enumerate(parts):
        if not isinstance(part, dict):
            raise _invalid(f"{name}[{index}] must be an object")
    return [(f"{name}[{index}]", part) for index, part in enumerate(parts)]


def _op(part: Mapping[str, object], where: str) -> str:
    if not isinstance(op := part.get("op"), str):
        raise _invalid(f"{where}: op is missing or not text")
    return op


def _phase(value: Any) -> Phase:
    if value is None:
        return "main"
    if value not in PHASES:
        raise _invalid(f"phase must be one of {', '.join(PHASES)}")
    return value  # type: ignore[no-any-return]  # one of PHASES


def _priority(value: object, built_in: bool) -> int:
    if value is None:
        return LOWEST_PRIORITY
    if isinstance(value, bool) or not isinstance(value, int):
        raise _invalid("priority must be a whole number")
    if not built_in and not LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY:
        raise _invalid(f"priority must be {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}; others are for built-in rules")
    return value


def _sensitive(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _invalid("sensitive must be true or false")


def _uuid(value: object) -> str:
    if value is None:
        return str(uuids.uuid4())
    if (spelled := syntax.uuid_of(value)) is None:
        raise _invalid("uuid must be a UUID")
    return spelled


def _text(document: Mapping[str, object], name: str) -> str | None:
    value = document.get(name)
    if value is None or (isinstance(value, str) and len(value) <= _LONGEST_TEXT):
        return value
    raise _invalid(f"{name} must be text of at most {_LONGEST_TEXT} characters")


def _check_plain(value: object, depth: int = DEPTH) -> None:
    """Refuse values that JSON can't represent; YAML files may have dates, sets and numbers of any size."""
    if depth == 0:
        raise _invalid(f"a rule is nested more than {DEPTH} levels deep")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise _invalid("the keys of an object in a rule must be text")
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            _check_plain(inner, depth - 1)
    elif not (value is None or isinstance(value, str | bool) or _is_plain_number(value)):
        raise _invalid("a rule may have only objects, lists, text, numbers of up to 64 bits, true, false and null")


def _is_plain_number(value: object) -> bool:
    if isinstance(value, int):
        return -_LARGEST_NUMBER <= value < _LARGEST_NUMBER * 2
    return isinstance(value, float) and math.isfinite(value)


def _invalid(reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"Invalid inspection rule: {reason}.")


def in_order(rules: Iterable[CompiledRule]) -> list[CompiledRule]:
    """Return the rules in the order in which they run."""
    return sorted(rules, key=lambda rule: -rule.priority)


def selected(
    rules: Iterable[CompiledRule], phase: str, scope: str | None, default_scope: str | None = None
) -> list[CompiledRule]:
    """Return the rules of a phase for a node's scope; ``default_scope`` is that of stored rules without a scope."""
    return [rule for rule in rules if rule.phase == phase and scope_of(rule, default_scope) in (None, scope)]


def scope_of(rule: CompiledRule, default_scope: str | None) -> str | None:
    """Return the scope of a rule; the default does not apply to built-in rules."""
    return rule.scope or (None if rule.built_in else default_scope) or None

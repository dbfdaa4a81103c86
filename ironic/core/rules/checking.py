"""Checking a rule document and making it ready; what a posted rule and a line of the built-in file go through alike.

Everything that can be wrong with a rule's form is found here, so that a stored rule can't fail on it. Errors name the
part of the rule and the argument. What a rule does with facts is `evaluation`'s.
"""

import math
import uuid as uuids
from collections.abc import Collection, Mapping
from typing import Any, Final

from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.arguments import Arguments, Signature
from ironic.core.rules.interpolation import ITEM, BadExpression, Lookup, Template, template
from ironic.core.rules.kinds import BadArgument
from ironic.core.rules.limits import DEPTH
from ironic.core.rules.rule import (
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    MULTIPLES,
    PHASES,
    CompiledRule,
    Condition,
    Deed,
    Phase,
)
from ironic.core.rules.vocabulary import ACTIONS, OPERATORS

_KEYS: Final = frozenset({"uuid", "description", "priority", "phase", "scope", "sensitive", "conditions", "actions"})
_CONDITION_KEYS: Final = frozenset({"op", "args", "loop", "multiple"})
_LONGEST_TEXT: Final = 255
_MOST_PARTS: Final = 1000
_LARGEST_NUMBER: Final = 2**63

_EARLY_NAMES: Final = frozenset({"inventory", "plugin_data"})
_NAMES: Final = _EARLY_NAMES | {"node", "ports", "port_groups"}


def check_rule(document: object, *, built_in: bool = False) -> CompiledRule:
    """Return the rule made ready, or raise InvalidParameterValue."""
    if not isinstance(document, dict):
        raise _invalid("a rule is an object")
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
        conditions=tuple(
            _condition(part, names, where) for where, part in _parts(document.get("conditions"), "conditions")
        ),
        actions=tuple(_deed(part, names, phase, where) for where, part in _actions(document.get("actions"))),
    )


def _condition(part: Mapping[str, object], names: Collection[str], where: str) -> Condition:
    if unknown := part.keys() - _CONDITION_KEYS:
        raise _invalid(f"{where} has no field {', '.join(sorted(map(str, unknown)))}")
    op = _op(part, where)
    bare = op.removeprefix("!").lstrip(" ") if op.startswith("!") else op
    if (operator := OPERATORS.get(bare)) is None:
        raise _invalid(f"{where}: no operator is called '{bare[:80]}'; there are {', '.join(sorted(OPERATORS))}")
    multiple = part.get("multiple", "any")
    if multiple not in MULTIPLES:
        raise _invalid(f"{where}: multiple is one of {', '.join(MULTIPLES)}")
    return Condition(
        op=op,
        args=part.get("args"),
        operator=operator,
        negated=op.startswith("!"),
        arguments=_arguments(operator.signature, part, names, f"{where} ({bare})"),
        loop=_loop(part, names, where),
        multiple=multiple,
    )


def _deed(part: Mapping[str, object], names: Collection[str], phase: Phase, where: str) -> Deed:
    op = _op(part, where)
    if (action := ACTIONS.get(op)) is None:
        raise _invalid(f"{where}: no action is called '{op[:80]}'; there are {', '.join(sorted(ACTIONS))}")
    if phase == "early" and not action.early:
        raise _invalid(f"{where}: action {op} needs a node, which the early phase has not")
    return Deed(action, _arguments(action.signature, part, names, f"{where} ({op})"), _loop(part, names, where))


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
    raise _invalid(f"{where}: loop is a list, an object or a text that is exactly one expression")


def _actions(parts: object) -> list[tuple[str, Mapping[str, object]]]:
    if not parts:
        raise _invalid("a rule has at least one action")
    return _parts(parts, "actions")


def _parts(parts: object, name: str) -> list[tuple[str, Mapping[str, object]]]:
    """Return conditions or actions, each with its place for messages."""
    if parts is None:
        return []
    if not isinstance(parts, list) or len(parts) > _MOST_PARTS:
        raise _invalid(f"{name} is a list of at most {_MOST_PARTS} objects")
    for index, part in enumerate(parts):
        if not isinstance(part, dict):
            raise _invalid(f"{name}[{index}] is no object")
    return [(f"{name}[{index}]", part) for index, part in enumerate(parts)]


def _op(part: Mapping[str, object], where: str) -> str:
    if not isinstance(op := part.get("op"), str):
        raise _invalid(f"{where}: op is missing or no text")
    return op


def _phase(value: Any) -> Phase:
    if value is None:
        return "main"
    if value not in PHASES:
        raise _invalid(f"phase is one of {', '.join(PHASES)}")
    return value  # type: ignore[no-any-return]  # one of PHASES


def _priority(value: object, built_in: bool) -> int:
    if value is None:
        return LOWEST_PRIORITY
    if isinstance(value, bool) or not isinstance(value, int):
        raise _invalid("priority is a whole number")
    if not built_in and not LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY:
        raise _invalid(f"priority is between {LOWEST_PRIORITY} and {HIGHEST_PRIORITY}; others are for built-in rules")
    return value


def _sensitive(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _invalid("sensitive is true or false")


def _uuid(value: object) -> str:
    if value is None:
        return str(uuids.uuid4())
    if (spelled := syntax.uuid_of(value)) is None:
        raise _invalid("uuid is no UUID")
    return spelled


def _text(document: Mapping[str, object], name: str) -> str | None:
    value = document.get(name)
    if value is None or (isinstance(value, str) and len(value) <= _LONGEST_TEXT):
        return value
    raise _invalid(f"{name} is text of at most {_LONGEST_TEXT} characters")


def _check_plain(value: object, depth: int = DEPTH) -> None:
    """Refuse what JSON can't hold; YAML files bring dates, sets and numbers of any size."""
    if depth == 0:
        raise _invalid(f"a rule is nested more than {DEPTH} levels deep")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise _invalid("the keys of an object in a rule are text")
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            _check_plain(inner, depth - 1)
    elif not (value is None or isinstance(value, str | bool) or _is_plain_number(value)):
        raise _invalid("a rule holds objects, lists, text, numbers of up to 64 bits, true, false and null only")


def _is_plain_number(value: object) -> bool:
    if isinstance(value, int):
        return -_LARGEST_NUMBER <= value < _LARGEST_NUMBER * 2
    return isinstance(value, float) and math.isfinite(value)


def _invalid(reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"Invalid inspection rule: {reason}.")

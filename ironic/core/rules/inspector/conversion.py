"""Conversion of rules of the standalone inspector into the rule language, with a report of what differs.

A converted rule does the same in an inspection as the original, but for the differences in its report. What the
original takes back when it does not match any more is not part of that: rules of the rule language take nothing back. A
missing field fails a condition of the original in any case; where the new operator would judge it, a condition in front
of it sees to that.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jsonpath_ng import jsonpath
from jsonpath_ng.parser import parse as parse_path

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.compiled_rules import check_rule
from ironic.core.rules.impossible_actions import check_possible
from ironic.core.rules.inspector.bound_actions import APPEND_ATTRIBUTE, EXTEND, FORMS, SET
from ironic.core.rules.inspector.checks import CHECKS
from ironic.core.rules.inspector.inspected_data import (
    ADDRESS,
    INTERFACES,
    LLDP,
    OF_INTERFACE,
    OF_INVENTORY,
    PARSED_LLDP,
)
from ironic.core.rules.inspector.inspector_documents import compile_rule, stored_form
from ironic.core.rules.paths import APPEND, parsed
from ironic.core.secrets.masking import is_secret

CONVERTED: Final = "converted"
DIFFERENT: Final = "converted with a difference"
IMPOSSIBLE: Final = "not convertible"

# Each operator as one of the rule language, and whether that is negated.
_OPERATORS: Final[Mapping[str, tuple[str, bool]]] = {
    "eq": ("eq", False),
    "ne": ("eq", True),
    "lt": ("lt", False),
    "ge": ("lt", True),
    "gt": ("gt", False),
    "le": ("gt", True),
    "in-net": ("in-net", False),
    "net": ("in-net", False),
    "matches": ("matches", False),
    "contains": ("contains", False),
    "is-empty": ("is-empty", False),
}
_COMPARING: Final = frozenset({"eq", "lt", "gt"})
_WHOLE: Final = r"\s*[+-]?[0-9]{1,40}\s*"
_NUMBER: Final = r"\s*[+-]?[0-9]{1,40}(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?\s*"

# Lists of the inventory, and objects of the inspection data: a wildcard over the latter has no counterpart.
_OBJECTS: Final = frozenset({("plugin_data", "all_interfaces"), ("plugin_data", "valid_interfaces")})
_LISTS: Final = frozenset({("inventory", "disks"), ("inventory", "interfaces"), ("plugin_data", "pci_devices")})

_KEY: Final = re.compile(r"[^\[\]{}'\"][^\[\]{}]*")
_EXPRESSION: Final = re.compile(r"\{\{|\}\}|\{data((?:\[[^\[\]{}]+\])*)\}")
_PATTERN: Final = re.compile(r"(?s)(\\[pPx]\{[^{}]*\}|\\.|\{[0-9]+(?:,[0-9]*)?\})|([{}])")

Path = tuple[str, ...]


class _Impossible(Exception):
    """A part of a rule has no counterpart."""


@dataclass(slots=True)
class Conversion:
    """The result for one rule; without a new rule ``remarks`` say why, otherwise what differs."""

    uuid: str | None
    description: str | None
    rule: dict[str, Any] | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """How far the rule was converted."""
        if self.rule is None:
            return IMPOSSIBLE
        return DIFFERENT if self.remarks else CONVERTED


def converted(document: Any) -> Conversion:
    """Convert one document of a rule, which is not changed."""
    is_object = isinstance(document, dict)
    made = Conversion(document.get("uuid") if is_object else None, document.get("description") if is_object else None)
    try:
        columns = stored_form(document)
        check_possible(compile_rule(columns))
        made.rule = _rule(columns, made.remarks, has_uuid=made.uuid is not None)
        check_possible(check_rule(made.rule))
    except (_Impossible, InvalidParameterValue) as error:
        made.rule, made.remarks = None, [str(error)]
    return made


def _rule(columns: Mapping[str, Any], remarks: list[str], *, has_uuid: bool) -> dict[str, Any]:
    conditions = [
        new
        for index, part in enumerate(columns["conditions"])
        for new in _conditions(part["op"], part["args"], _Remarks(f"conditions[{index}]", remarks))
    ]
    actions = [
        _action(part["op"], part["args"], _Remarks(f"actions[{index}]", remarks))
        for index, part in enumerate(columns["actions"])
    ]
    rule = {name: columns[name] for name in ("description", "scope") if columns[name] is not None}
    if has_uuid:
        rule["uuid"] = columns["uuid"]
    if any(_writes_secret(part["args"]) for part in columns["actions"]):
        rule["sensitive"] = True
        remarks.append("the rule writes a secret, so it is made sensitive: nothing shows its conditions and actions")
    return {**rule, "phase": "main", "conditions": conditions, "actions": actions}


@dataclass(frozen=True, slots=True)
class _Remarks:
    """The remarks on one part of a rule."""

    where: str
    remarks: list[str]

    def add(self, text: str) -> None:
        """Add a difference."""
        self.remarks.append(f"{self.where}: {text}")

    def impossible(self, text: str) -> _Impossible:
        """Return the error for a part without a counterpart."""
        return _Impossible(f"{self.where}: {text}")


# Conditions


def _conditions(op: str, args: Mapping[str, Any], remarks: _Remarks) -> Iterator[dict[str, Any]]:
    """Yield the new conditions for an old one: what has to be true first, then the comparison."""
    if op not in CHECKS:
        raise remarks.impossible(f"operator {op} is one of a third party")
    name, negated = _OPERATORS[op]
    negated = negated != args["invert"]
    scheme, separator, text = args["field"].partition("://")
    root, path, inner = _located(text if separator else scheme, scheme == "node" and bool(separator), remarks)
    if root == "node":
        remarks.add("the node is read as earlier rules have left it, not as it was before all rules")
    reference = args.get("value")
    is_number = isinstance(reference, int | float) and not isinstance(reference, bool)
    if name in _COMPARING:
        _compare_remarks(name, reference, is_number, remarks)
    if inner is None:
        value = _expression(root, path)
        if is_number:
            yield {"op": "matches", "args": [value, _WHOLE if isinstance(reference, int) else _NUMBER]}
        elif negated and name != "is-empty":
            yield {"op": "! is-none", "args": [value]}
            remarks.add("a field that is null counts as missing")
        yield {"op": f"!{name}" if negated else name, "args": _arguments(name, value, reference)}
        return
    _loop_remarks(name, negated, is_number, args["multiple"], remarks)
    if args["multiple"] == "all":
        yield {"op": "! is-empty", "args": [_expression(root, path)]}
    yield {
        "op": f"!{name}" if negated else name,
        "args": _arguments(name, _expression("item", inner), reference),
        "loop": _expression(root, path),
        "multiple": args["multiple"],
    }


def _compare_remarks(name: str, reference: object, is_number: bool, remarks: _Remarks) -> None:
    if is_number and isinstance(reference, int):
        remarks.add("a number with a fraction is compared as it is or fails; the original cuts the fraction off")
    elif isinstance(reference, str) and name != "eq":
        remarks.add("a value that is not text fails the inspection; the original does not match")
    elif isinstance(reference, str) and re.fullmatch(_NUMBER, reference):
        remarks.add("a number equals its text; for the original it does not")


def _loop_remarks(name: str, negated: bool, is_number: bool, multiple: str, remarks: _Remarks) -> None:
    if name == "is-empty":
        remarks.add("without any item the condition does not hold; the original then judges a missing field")
    elif negated or multiple != "any":
        remarks.add("an item without the field is judged; the original leaves it out")
    if is_number and name != "eq":
        remarks.add("an item with a text that is no number fails the inspection; the original does not match")


def _located(text: str, of_node: bool, remarks: _Remarks) -> tuple[str, Path, Path | None]:
    """Return the name that an expression begins with, the keys up to a wildcard, and those behind it (or None)."""
    keys = list(_keys(parse_path(text), remarks))
    wildcards = [index for index, key in enumerate(keys) if key is None]
    if len(wildcards) > 1:
        raise remarks.impossible(f"the path {text[:80]} has several wildcards")
    names = [key for key in keys if key is not None]
    cut = wildcards[0] if wildcards else len(names)
    root, before = ("node", tuple(names[:cut])) if of_node else _root(tuple(names[:cut]), remarks)
    if not before and (wildcards or root != "inventory"):
        raise remarks.impossible(f"the path {text[:80]} is the whole document")
    if not wildcards:
        return root, before, None
    if (root, *before) in _OBJECTS:
        raise remarks.impossible(f"the path {text[:80]} has a wildcard over an object")
    if (root, *before) not in _LISTS:
        remarks.add("the wildcard stands for the items of a list; an object has none for the new rule")
    return root, before, tuple(names[cut:])


def _keys(tree: Any, remarks: _Remarks) -> Iterator[str | None]:
    """Yield the keys of a path, None for a wildcard."""
    if isinstance(tree, jsonpath.Child):
        yield from _keys(tree.left, remarks)
        yield from _keys(tree.right, remarks)
    elif isinstance(tree, jsonpath.Wildcard):
        yield None
    elif isinstance(tree, jsonpath.Fields) and len(tree.fields) == 1 and _KEY.fullmatch(tree.fields[0]):
        yield tree.fields[0]
    elif isinstance(tree, jsonpath.Index) and len(tree.indices) == 1 and tree.indices[0] >= 0:
        yield str(tree.indices[0])
    elif not isinstance(tree, jsonpath.Root | jsonpath.This):
        raise remarks.impossible("the path has more than names, one wildcard, and indexes from the beginning")


def _root(keys: Path, remarks: _Remarks) -> tuple[str, Path]:
    """Return where the rule language has a key of the inspection data."""
    name, *rest = keys or ("",)
    if name in INTERFACES and len(rest) > 1:
        of_interface, key, *inner = rest
        if key == ADDRESS:
            raise remarks.impossible(f"the path names the address ({ADDRESS}) of an interface, which has two keys now")
        if key == LLDP:
            return "plugin_data", (PARSED_LLDP, of_interface, *inner)
        rest = [of_interface, OF_INTERFACE.get(key, key), *inner]
        keys = (name, *rest)
    if name == "inventory":
        return "inventory", tuple(rest)
    if name == "auto_discovered":
        return "node", keys
    if name == "interfaces":
        return "plugin_data", ("valid_interfaces", *rest)
    if name in OF_INVENTORY:
        return "inventory", (*OF_INVENTORY[name], *rest)
    return "plugin_data", keys


def _expression(root: str, keys: Sequence[str]) -> str:
    return "{" + root + "".join(f"[{key}]" for key in keys) + "}"


def _arguments(name: str, value: str, reference: Any) -> list[Any]:
    if name == "is-empty":
        return [value]
    if name in ("matches", "contains"):
        return [value, _PATTERN.sub(lambda found: found[1] or found[2] * 2, reference)]
    return [value, _literal(reference)]


def _literal(value: Any) -> Any:
    """Return a value in which the rule language finds no expressions."""
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, list):
        return [_literal(inner) for inner in value]
    if isinstance(value, dict):
        return {_literal(key): _literal(inner) for key, inner in value.items()}
    return value


# Actions


def _action(op: str, args: Mapping[str, Any], remarks: _Remarks) -> dict[str, Any]:
    if op not in FORMS:
        raise remarks.impossible(f"action {op} is one of a third party")
    params = {FORMS[op].aliases.get(name, name): value for name, value in args.items()}
    if op == "fail":
        if params.get("maintenance"):
            remarks.add("the node is not put in maintenance")
        return {"op": "fail", "args": {"msg": _literal(params["message"])}}
    if op in (SET, EXTEND, APPEND_ATTRIBUTE):
        return _attribute(op, params, remarks)
    new = {"name": _literal(params["name"])}
    if op == "set-capability":
        value = params.get("value")
        new["value"] = "true" if value is None else _filled_in(value, remarks)
    return {"op": op, "args": new}


def _attribute(op: str, params: Mapping[str, Any], remarks: _Remarks) -> dict[str, Any]:
    path = params["path"] if params["path"].startswith("/") else f"/{params['path']}"
    if "cleanup" in params:
        remarks.add("the value for cleaning up is dropped")
    if parsed(path) == ("driver",) and params.get("reset_interfaces") is not False:
        remarks.add("interfaces that the new driver supports are kept")
    if op == SET and parsed(path)[-1] != APPEND:
        return {"op": SET, "args": {"path": _literal(path), "value": _filled_in(params["value"], remarks)}}
    path = path.removesuffix(f"/{APPEND}") if op == SET else path
    new = {"path": _literal(path), "value": _filled_in(params["value"], remarks)}
    if params.get("unique"):
        new["unique"] = True
    else:
        remarks.add("the value is appended again in each inspection")
    return {"op": EXTEND, "args": new}


def _filled_in(value: Any, remarks: _Remarks) -> Any:
    """Return a value with the expressions of the rule language in its texts."""
    if isinstance(value, list):
        return [_filled_in(inner, remarks) for inner in value]
    if isinstance(value, dict):
        return {_literal(key): _filled_in(inner, remarks) for key, inner in value.items()}
    if not isinstance(value, str):
        return value
    has_expression = False

    def replaced(found: "re.Match[str]") -> str:
        nonlocal has_expression
        if found[0] in ("{{", "}}"):
            return found[0]
        has_expression = True
        return _expression(*_root(tuple(found[1][1:-1].split("][")), remarks))

    text = _EXPRESSION.sub(replaced, value)
    if has_expression:
        remarks.add("a missing value does not fail the inspection, and lists and objects are written as JSON")
        if _EXPRESSION.fullmatch(value):
            remarks.add("the value keeps its type; the original makes text of it")
    return text


def _writes_secret(args: Mapping[str, Any]) -> bool:
    path = args.get("path", args.get("key"))
    return isinstance(path, str) and any(is_secret(key) for key in path.split("/"))

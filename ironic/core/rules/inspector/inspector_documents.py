"""Documents of rules in the dialect of the standalone inspector: checked, compiled, stored and shown again.

A document has `conditions` of field, op, value, multiple, invert, and `actions` whose parameters stand beside their
name. It is stored in the form of all rules, with the dialect beside it: each part has `op`, and everything else under
`args`. Checking it compiles it, so a stored rule can't fail an inspection by its form. Errors name part and parameter.
Sources: demands S174 to S188, doc/contract/inspection.md#rules-of-the-standalone-inspector.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ironic.core.rules.argument_kinds import BadArgument
from ironic.core.rules.inspector import rule_plugins
from ironic.core.rules.inspector.bound_actions import FORMS, BoundAction
from ironic.core.rules.inspector.checks import CHECKS, Check
from ironic.core.rules.inspector.json_paths import BadJsonPath, JsonPath, parsed_path
from ironic.core.rules.inspector.rule_plugins import PluginCondition
from ironic.core.rules.limits import RuleFault
from ironic.core.rules.rule_forms import check_plain, invalid, parts_of, text_of, uuid_of

IRONIC: Final = "ironic"
INSPECTOR: Final = "inspector"
DIALECTS: Final = (IRONIC, INSPECTOR)

MULTIPLES: Final = ("any", "all", "first")
_SCHEMES: Final = ("data", "node")

_KEYS: Final = frozenset({"uuid", "description", "scope", "conditions", "actions"})
# An answer may be sent back as it is.
_ONLY_SHOWN: Final = frozenset({"links"})
_PARTS: Final = ("conditions", "actions")
# The key of the name of a part in a document; in the stored form it is `op` for both.
_NAME_OF: Final = {"conditions": "op", "actions": "action"}
_OWN: Final = frozenset({"field", "multiple", "invert"})
_VALUE: Final = "value"

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Condition:
    """One compiled condition; ``reference`` is the prepared value, all parameters for a plug-in."""

    op: str
    args: Document  # as stored, for explanations
    scheme: str
    path: JsonPath
    check: Check | PluginCondition
    reference: Any
    multiple: str
    invert: bool


@dataclass(frozen=True, slots=True)
class InspectorRule:
    """One compiled rule. It has no priority, runs in the main phase, and is not hidden."""

    uuid: str
    description: str | None
    scope: str | None
    conditions: tuple[Condition, ...]
    actions: tuple[BoundAction, ...]
    phase: Literal["main"] = "main"
    priority: int = 0
    sensitive: bool = False
    built_in: bool = False
    calls_out: bool = False


def stored_form(document: object) -> dict[str, Any]:
    """Check a document and return the columns of its row; raises InvalidParameterValue with the first fault.

    A document without a UUID gets one.
    """
    if not isinstance(document, dict):
        raise invalid("a rule must be an object")
    if unknown := document.keys() - _KEYS - _ONLY_SHOWN:
        raise invalid(f"a rule has no field {', '.join(sorted(map(str, unknown)))}")
    check_plain(document)
    columns = {
        "uuid": uuid_of(document.get("uuid")),
        "description": text_of(document, "description"),
        "scope": text_of(document, "scope") or None,
        "dialect": INSPECTOR,
        **{name: [_stored(name, part, where) for where, part in parts_of(document, name)] for name in _PARTS},
    }
    compile_rule(columns)
    return columns


def _stored(name: str, part: Document, where: str) -> dict[str, Any]:
    key = _NAME_OF[name]
    if not isinstance(op := part.get(key), str):
        raise invalid(f"{where}.{key} is missing or not text")
    args = {inner: value for inner, value in part.items() if inner != key}
    if name == "conditions":
        args = {**args, "multiple": args.get("multiple") or "any", "invert": args.get("invert") or False}
    return {"op": op, "args": args}


def shown_form(columns: Document) -> dict[str, Any]:
    """Return the document of a stored rule."""
    parts = {name: [{_NAME_OF[name]: one["op"], **one["args"]} for one in columns[name]] for name in _PARTS}
    return {**short_form(columns), **parts}


def short_form(columns: Document) -> dict[str, Any]:
    """Return the document of a stored rule in a list."""
    return {name: columns[name] for name in ("uuid", "description", "scope")}


def compile_rule(columns: Document) -> InspectorRule:
    """Compile a rule in its stored form; raises InvalidParameterValue with the first fault."""
    return InspectorRule(
        uuid=columns["uuid"],
        description=columns["description"],
        scope=columns["scope"],
        conditions=tuple(_condition(part, where) for where, part in parts_of(columns, "conditions")),
        actions=tuple(_action(part, where) for where, part in parts_of(columns, "actions", required=True)),
    )


def _condition(part: Document, where: str) -> Condition:
    op, args = part["op"], part["args"]
    check = CHECKS.get(op) or rule_plugins.conditions().get(op)
    if check is None:
        known = sorted([*CHECKS, *rule_plugins.conditions()])
        raise invalid(f"{where}.op: there is no operator '{op[:80]}'; known: {', '.join(known)}")
    if args["multiple"] not in MULTIPLES:
        raise invalid(f"{where}.multiple must be one of {', '.join(MULTIPLES)}")
    if not isinstance(args["invert"], bool):
        raise invalid(f"{where}.invert must be true or false")
    scheme, path = _field(args.get("field"), where)
    params = {name: value for name, value in args.items() if name not in _OWN}
    try:
        reference = _reference(check, params)
    except BadArgument as error:
        raise invalid(f"{where} ({op}): {error}") from None
    return Condition(op, args, scheme, path, check, reference, args["multiple"], args["invert"])


def _field(value: object, where: str) -> tuple[str, JsonPath]:
    """Return the scheme and the path of a field."""
    if not isinstance(value, str) or not value:
        raise invalid(f"{where}.field is missing or not text")
    scheme, separator, path = value.partition("://")
    if not separator:
        scheme, path = _SCHEMES[0], value
    if scheme not in _SCHEMES:
        raise invalid(f"{where}.field: the scheme '{scheme[:80]}' is unknown; known: {', '.join(_SCHEMES)}")
    try:
        return scheme, parsed_path(path)
    except BadJsonPath as error:
        raise invalid(f"{where}.field: {error}") from None


def _reference(check: Check | PluginCondition, params: Document) -> Any:
    """Return what a value is compared with; raises BadArgument."""
    if isinstance(check, PluginCondition):
        check.validate(params)
        return params
    known = {_VALUE} if check.takes_value else set()
    if unknown := params.keys() - known:
        raise BadArgument(f"there is no parameter '{min(unknown)[:80]}'; known: {', '.join(known) or 'none'}")
    if check.takes_value and params.get(_VALUE) is None:
        raise BadArgument("parameter 'value' is missing")
    try:
        return check.prepare(params.get(_VALUE))
    except RuleFault as fault:
        raise BadArgument(f"parameter 'value': {fault}") from None


def _action(part: Document, where: str) -> BoundAction:
    op, args = part["op"], part["args"]
    form = FORMS.get(op) or rule_plugins.actions().get(op)
    if form is None:
        known = sorted([*FORMS, *rule_plugins.actions()])
        raise invalid(f"{where}.action: there is no action '{op[:80]}'; known: {', '.join(known)}")
    try:
        return form.bound(args)
    except BadArgument as error:
        raise invalid(f"{where} ({op}): {error}") from None


def check_plugins() -> None:
    """Load the plug-ins at start; raises InvalidParameterValue with all that can't be loaded."""
    rule_plugins.conditions()
    rule_plugins.actions()

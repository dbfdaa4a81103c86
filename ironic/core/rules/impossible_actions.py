"""Refuse rules with an action that would fail on every machine, as far as the rule alone shows it.

`check_rule` checks the form of a rule, this module what its actions would write: literal values that a field never
takes, keys within a field that has none, names that nothing can have, reported values where only literal ones may be.
What a loop lists literally counts as written in each action. It is asked when a rule is created or changed, not when
stored rules are compiled: an old rule whose conditions never hold does no harm.

What earlier rules may have changed is not judged: a value of the node or of the plug-in data may be literal by then.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ironic.core.model.fields import Field
from ironic.core.rules import documents
from ironic.core.rules.actions import capability, check_trait
from ironic.core.rules.compiled_rules import AnyRule, BoundAction
from ironic.core.rules.inspector.bound_actions import EXTEND, SET
from ironic.core.rules.inspector.bound_actions import BoundAction as InspectorsAction
from ironic.core.rules.inspector.data_texts import DataText
from ironic.core.rules.interpolation import (
    ITEM,
    Constant,
    Listing,
    Lookup,
    Scope,
    Table,
    Template,
    Text,
    item_source,
    part_of,
)
from ironic.core.rules.limits import Budget, RuleFault
from ironic.core.rules.paths import Path, parsed, pointer
from ironic.core.rules.rule_forms import invalid
from ironic.core.rules.signatures import Argument
from ironic.core.texts import syntax
from ironic.core.values import network_data

# No rule writes these, so their values are always those of the machine.
_REPORTED: Final = frozenset({"inventory", "ports", "port_groups"})
_TABLES: Final[Mapping[str, Mapping[str, Field]]] = {"": documents.NODE, "port-": documents.PORT}
_WRITERS: Final = {f"{verb}-{owner}attribute": (verb, owner) for verb in ("set", "extend", "del") for owner in _TABLES}
# What is in the name of a port.
_IN_PORT_NAMES: Final = re.compile(r"[0-9A-Fa-f:-]*")
_FAR: Final = "\N{REPLACEMENT CHARACTER}"  # stands for the keys of a path that expressions yield


def check_possible(rule: AnyRule) -> None:
    """Raise InvalidParameterValue, with the place, if an action of a rule fails whatever the machine."""
    actions: tuple[BoundAction | InspectorsAction, ...] = rule.actions
    for index, bound in enumerate(actions):
        try:
            if isinstance(bound, BoundAction):
                _check(bound)
            else:
                _check_inspectors(bound)
        except RuleFault as fault:
            name = bound.action.name if isinstance(bound, BoundAction) else bound.action
            raise invalid(f"actions[{index}] ({name}) can never work: {fault}") from None


def _check_inspectors(bound: InspectorsAction) -> None:
    """Check an action of a rule of the standalone inspector; its form has the rest of the checks. Raises RuleFault."""
    if bound.action not in (SET, EXTEND):
        return
    path = parsed(bound.at)
    if bound.is_reported:
        _check_literal(path)
    kept = bound.value if bound.action == SET and not bound.is_reported else None
    _check_field(documents.NODE, "node", path, "set" if bound.action == SET else "extend", kept)


def _check(bound: BoundAction) -> None:
    """Check an action for each item of its loop, as far as the rule shows them; raises RuleFault."""
    for source in _sources(bound.loop):
        given = {one.name: _filled_in(one, source) for one in bound.arguments}
        if bound.action.name in _WRITERS:
            verb, owner = _WRITERS[bound.action.name]
            _check_write(verb, owner, given, source)
        elif bound.action.name == "add-trait":
            _check_trait(given["name"])
        elif bound.action.name == "set-capability":
            _check_capability(given["name"], given["value"])


def _sources(loop: Template | None) -> list[Template | None]:
    """Return what yields each item of a loop; a list whose length the rule does not show has one of each kind."""
    if isinstance(loop, Listing):
        return [*loop.items]
    if isinstance(loop, Constant):
        return [item_source(loop, index) for index in range(len(loop.value) if isinstance(loop.value, list) else 1)]
    return [loop]


def _filled_in(argument: Argument, source: Template | None) -> Template:
    """Return the argument's template, or its value if that is the literal item of a loop, or parts of it."""
    made = argument.template
    if source is None or not made.lookups or any(one.name != ITEM for one in made.lookups):
        return made
    item: object = None
    for lookup in made.lookups:
        part = part_of(source, lookup.keys)
        if not isinstance(part, Constant):
            return made
        item = _with(item, lookup.keys, part.value)
    return Constant(argument.kind.accept(made.render(Scope({}).with_item(item, reported=False), Budget())))


def _with(item: object, keys: Sequence[str], value: object) -> object:
    """Return an item with a value at some keys."""
    if not keys:
        return value
    known = item if isinstance(item, dict) else {}
    return {**known, keys[0]: _with(known.get(keys[0]), keys[1:], value)}


def _literals(made: Template) -> list[object]:
    """Return the value of a template, or the literal parts of a text with expressions."""
    if isinstance(made, Constant):
        return [made.value]
    return [part for part in made.parts if isinstance(part, str)] if isinstance(made, Text) else []


def _check_trait(made: Template) -> None:
    if isinstance(made, Constant):
        check_trait(made.value)
    elif isinstance(made, Text):
        for index, part in enumerate(made.parts):
            if isinstance(part, str):
                check_trait(part if index == 0 else f"A{part}")


def _check_capability(name: Template, value: Template) -> None:
    for text in _literals(name):
        capability(Budget(), str(text), "x")
    for found in [[]] if isinstance(value, Listing | Table) else _literals(value):
        capability(Budget(), "x", found)


def _check_port(made: Template) -> None:
    """Check what names a port; raises RuleFault."""
    found = _literals(made)
    if isinstance(made, Constant):
        is_possible = syntax.is_uuid(made.value) or syntax.mac_of(made.value) is not None
    else:
        is_possible = all(map(_IN_PORT_NAMES.fullmatch, map(str, found)))
    if not is_possible:
        shown = "".join(map(str, found))[:80]
        raise RuleFault(f"a port is named by its UUID or its MAC address with colons, and {shown!r} is neither")


def _check_write(verb: str, owner: str, given: Mapping[str, Template], loop: Template | None) -> None:
    """Check one write of a node or port; raises RuleFault."""
    table, value = _TABLES[owner], given.get("value")
    if owner:
        _check_port(given["port_id"])
    path = _path(given["path"])
    if _is_reported(given["path"], loop):
        documents.check_reported_path(path)
    if _FAR in path[0]:
        return
    if not owner and value is not None and _is_reported(value, loop):
        documents.field_of(table, "node", path)
        _check_literal(path)
    _check_field(table, "port" if owner else "node", path, verb, value if isinstance(value, Constant) else None)


def _check_field(
    table: Mapping[str, Field], owner: str, path: Path, verb: str, literal: Constant | DataText | None
) -> None:
    """Check that a field takes what is written at a path of it; raises RuleFault."""
    field = documents.field_of(table, owner, path)
    try:
        if verb == "del":
            if len(path) == 1:
                documents.emptied_value(field)
        elif len(path) > 1:
            documents.checked_value(field, {})
        elif verb == "extend":
            documents.checked_value(field, [])
        elif literal is not None:
            stored = documents.checked_value(field, literal.value)
            if path[0] == "network_data" and (wrong := network_data.fault(stored)):
                raise RuleFault(wrong)
    except RuleFault as fault:
        raise RuleFault(f"{pointer(path[:1])} {fault}") from None


def _check_literal(path: Path) -> None:
    """Refuse a reported value inside a path that rules may only write literally; raises RuleFault."""
    for literal in documents.LITERAL:
        if path[: len(literal)] == literal:
            raise RuleFault(
                f"{pointer(literal)} can't be set to what a machine reported: write its value in the rule, without an "
                "expression, and test the reported value in a condition"
            )


def _path(made: Template) -> Path:
    """Return the path that a template yields, with a stand-in for each key that an expression yields."""
    if isinstance(made, Constant):
        return tuple(made.value)
    if isinstance(made, Text):
        return parsed("".join(part if isinstance(part, str) else _FAR for part in made.parts))
    return (_FAR,)


def _is_reported(made: Template, loop: Template | None) -> bool:
    """Return whether a value surely comes from what a machine reported."""
    return any(_is_surely_reported(one, loop) for one in made.lookups)


def _is_surely_reported(lookup: Lookup, loop: Template | None) -> bool:
    if lookup.name == ITEM and loop is not None:
        return any(one.name in _REPORTED for one in part_of(loop, lookup.keys).lookups)
    return lookup.name in _REPORTED

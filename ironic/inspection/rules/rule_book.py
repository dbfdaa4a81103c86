"""The rule book: built-in rules from the operator's file and stored rules, compiled in the order they run.

Built-in rules are read from a YAML file and checked at start (S114). They are not stored, users can't change them, and
their priority may be outside of the range for users. A rule without a UUID gets one from its position in the file, so
it is the same on every conductor and after every start.

Stored rules are read in one statement per inspection and compiled only when their text is new, so a compiled rule is
never out of date, whichever host has changed it.
"""

import functools
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.core.rules import PHASES, AnyRule, CompiledRule, check_rule, in_order, selected, vocabulary
from ironic.core.rules.inspector import INSPECTOR, check_plugins, compile_rule
from ironic.core.texts.operator_files import document_in
from ironic.db import Store

_UUID: Final = "00000000-0000-0000-0000-{number:012x}"


class BuiltInRule(NamedTuple):
    """One rule, compiled and as it is in the file."""

    compiled: CompiledRule
    document: Mapping[str, Any]


def load_built_in(path: str | None) -> tuple[BuiltInRule, ...]:
    """Return the rules of the file, or raise InvalidParameterValue with all its faults."""
    vocabulary.check()
    check_plugins()
    if not path:
        return ()
    try:
        documents: Any = document_in(Path(path))
    except (OSError, ValueError) as error:
        raise _invalid(path, f"it can't be read: {error}") from None
    if documents is not None and not isinstance(documents, list):
        raise _invalid(path, "it is no list of rules")
    rules: list[BuiltInRule] = []
    faults: list[str] = []
    for number, document in enumerate(documents or [], 1):
        if isinstance(document, dict) and document.get("uuid") is None:
            document = document | {"uuid": _UUID.format(number=number)}
        try:
            rules.append(BuiltInRule(check_rule(document, built_in=True), document))
        except InvalidParameterValue as error:
            faults.append(f"rule {number}: {error}")
    uuids = [rule.compiled.uuid for rule in rules]
    faults += [f"UUID {uuid} is used more than once" for uuid in sorted(set(uuids)) if uuids.count(uuid) > 1]
    if faults:
        raise _invalid(path, "; ".join(faults))
    return tuple(rules)


def _invalid(path: str, reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"The built-in inspection rules in {path} can't be used: {reason}")


_COLUMNS: Final = ("uuid", "priority", "description", "scope", "sensitive", "phase", "dialect", "conditions", "actions")
_MOST_COMPILED: Final = 4096


class RuleBook:
    """The stored and built-in rules."""

    def __init__(self, built_in: Sequence[BuiltInRule] = ()) -> None:
        self.built_in = tuple(built_in)

    def rules(self, store: Store, phases: Collection[str] = PHASES) -> list[AnyRule]:
        """Return the rules of these phases in the order they run; built-in ones after stored ones of equal priority."""
        filters = {} if set(phases) == set(PHASES) else {"phases": phases}
        stored = [_compiled(row) for row in store.rules.rows(_COLUMNS, filters=filters)]
        return in_order([*stored, *(rule.compiled for rule in self.built_in if rule.compiled.phase in phases)])

    def early(self, store: Store) -> "EarlyRules":
        """Return the rules of the early phase for one report."""
        return EarlyRules(self, store)


class EarlyRules:
    """The rules of the early phase for one report; read from the database once, when they are needed."""

    def __init__(self, book: RuleBook, store: Store) -> None:
        self._book, self._store = book, store

    @functools.cached_property
    def rules(self) -> list[AnyRule]:
        """The rules in the order they run; raises InspectionRuleFailure for a stored rule that can't be compiled."""
        return selected(self._book.rules(self._store, ("early",)), "early", None)

    @property
    def may_call_out(self) -> bool:
        """Return whether one of them may wait for another service; rules that can't be compiled do not run."""
        try:
            return any(rule.calls_out for rule in self.rules)
        except InspectionRuleFailure:
            return False


@functools.lru_cache(maxsize=_MOST_COMPILED)
def _compiled(row: tuple[Any, ...]) -> AnyRule:
    """Compile a stored rule."""
    document = dict(zip(_COLUMNS, row, strict=True))
    for name in ("conditions", "actions"):
        document[name] = orjson.loads(document[name] or "[]")
    try:
        if document.pop("dialect") == INSPECTOR:
            return compile_rule(document)
        return check_rule(document)
    except InvalidParameterValue as error:
        reason = "its stored form is not valid" if document["sensitive"] else str(error)
        raise InspectionRuleFailure(rule=document["uuid"], what="all nodes", error=reason) from None

"""All rules, stored and built-in, made ready and in the order they run.

Stored rules are read in one statement per inspection and compiled only when their text is new: what is kept can't be
out of date, whoever changed a rule on whichever host.
"""

import functools
from collections.abc import Collection, Sequence
from typing import Any, Final

import orjson

from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.core.rules import PHASES, CompiledRule, check_rule, in_order
from ironic.db import Store
from ironic.inspection.rules.built_in import BuiltInRule

_COLUMNS: Final = ("uuid", "priority", "description", "scope", "sensitive", "phase", "conditions", "actions")
_KEPT: Final = 4096  # compiled rules


class RuleBook:
    """The rules that there are."""

    def __init__(self, built_in: Sequence[BuiltInRule] = ()) -> None:
        self.built_in = tuple(built_in)

    def rules(self, store: Store, phases: Collection[str] = PHASES) -> list[CompiledRule]:
        """Return the rules of these phases in the order they run; built-in ones after stored ones of equal priority."""
        filters = {} if set(phases) == set(PHASES) else {"phases": phases}
        stored = [_compiled(row) for row in store.rules.rows(_COLUMNS, filters=filters)]
        return in_order([*stored, *(rule.compiled for rule in self.built_in if rule.compiled.phase in phases)])


@functools.lru_cache(maxsize=_KEPT)
def _compiled(row: tuple[Any, ...]) -> CompiledRule:
    """Return a stored rule made ready."""
    document = dict(zip(_COLUMNS, row, strict=True))
    for name in ("conditions", "actions"):
        document[name] = orjson.loads(document[name] or "[]")
    try:
        return check_rule(document)
    except InvalidParameterValue as error:
        reason = "its stored form is not valid" if document["sensitive"] else str(error)
        raise InspectionRuleFailure(rule=document["uuid"], what="all nodes", error=reason) from None

"""Rules in the dialect of the standalone inspector, as they are stored: create, replace, list, show and delete.

They are rows of the same table as all rules, marked with their dialect. These functions see only rules of this dialect:
a rule of the rule language has no document here, so listing leaves it out and deleting all rules leaves it alone.
Documents come from `ironic.core.rules.inspector`, and have no links: these belong to the API that shows them.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.resource_errors import InspectionRuleNotFound
from ironic.core.rules import check_possible
from ironic.core.rules.inspector import INSPECTOR, compile_rule, short_form, shown_form, stored_form
from ironic.db import Store

_SHORT: Final = ("uuid", "description", "scope")
_FULL: Final = (*_SHORT, "dialect", "conditions", "actions")
_MINE: Final = {"dialect": INSPECTOR}

Document = dict[str, Any]


def create(store: Store, document: object) -> Document:
    """Store a new rule and return its document; raises InvalidParameterValue or InspectionRuleAlreadyExists."""
    columns = stored_form(document)
    check_possible(compile_rule(columns))
    store.rules.create(columns)
    return shown_form(columns)


def replace(store: Store, uuid: str, document: object) -> Document:
    """Replace a rule, which keeps its place in the order, and return its document.

    Raises InspectionRuleNotFound, or InvalidParameterValue, also for a document with another UUID.
    """
    before = _columns(store, uuid)
    named = document | {"uuid": document.get("uuid") or uuid} if isinstance(document, dict) else document
    columns = stored_form(named)
    if columns["uuid"] != uuid:
        raise InvalidParameterValue(err="Invalid inspection rule: uuid is not that of the rule to replace.")
    # An old rule can still get other conditions.
    if columns["actions"] != before["actions"]:
        check_possible(compile_rule(columns))
    if not store.rules.update(uuid, columns, where=_MINE):
        raise InspectionRuleNotFound(rule=uuid)
    return shown_form(columns)


def listed(store: Store) -> list[Document]:
    """Return all rules in their short form, in the order of their creation."""
    return [short_form(dict(zip(_SHORT, row, strict=True))) for row in store.rules.rows(_SHORT, filters=_MINE)]


def show(store: Store, uuid: str) -> Document:
    """Return the document of a rule; raises InspectionRuleNotFound."""
    return shown_form(_columns(store, uuid))


def _columns(store: Store, uuid: str) -> Mapping[str, Any]:
    found = dict(zip(_FULL, store.rules.row(_FULL, uuid), strict=True))
    if found["dialect"] != INSPECTOR:
        raise InspectionRuleNotFound(rule=uuid)
    return found | {name: orjson.loads(found[name] or "[]") for name in ("conditions", "actions")}


def delete(store: Store, uuid: str) -> None:
    """Delete a rule; raises InspectionRuleNotFound. Its effects are undone when its nodes are inspected again."""
    _columns(store, uuid)
    store.rules.delete(uuid)


def clear(store: Store) -> int:
    """Delete all rules of this dialect; return how many there were."""
    return store.rules.clear(dialect=INSPECTOR)

"""Stored and built-in inspection rules, as rows of one table.

Stored rules are the database's, built-in ones the operator's file's, read at start. A list shows stored rules before
built-in ones unless it is sorted. There are few rules, so when there are built-in ones the page is cut out here;
without them the database does it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api.request import Request
from ironic.core.errors import MarkerNotFound
from ironic.inspection.rules import BuiltInRule

if TYPE_CHECKING:
    from ironic.db.inspection_rules import InspectionRules

# The column that no table has.
_FLAG: Final = "built_in"
_COMPILED: Final = ("uuid", "priority", "description", "scope", "sensitive", "phase", "built_in")

_NO_FILTERS: Final[Mapping[str, Any]] = {}

Row = tuple[Any, ...]
Facts = dict[str, Any]


class RuleRows:
    """All rules."""

    def __init__(self, stored: "InspectionRules", built_in: Iterable[BuiltInRule]) -> None:
        self._stored = stored
        self._built_in = {rule.compiled.uuid: _facts(rule) for rule in built_in}

    def is_built_in(self, uuid: str) -> bool:
        """Tell whether a rule comes from the file."""
        return uuid in self._built_in

    def row(self, columns: Sequence[str], uuid: str) -> Row:
        """Return these columns of one rule."""
        if uuid in self._built_in:
            return _cut(self._built_in[uuid], columns)
        asked = [name for name in columns if name != _FLAG]
        return _cut(_named(asked, self._stored.row(asked, uuid)), columns)

    def rows(
        self,
        columns: Sequence[str],
        *,
        filters: Mapping[str, object] = _NO_FILTERS,
        marker: str | None = None,
        limit: int | None = None,
        sort_key: str = "id",
        sort_dir: str = "asc",
        visible: Mapping[str, object] = _NO_FILTERS,
    ) -> list[Row]:
        """Return these columns of one page of rules; no rule is hidden from callers who may list them."""
        filters = {**filters, **visible}
        asked = [name for name in columns if name != _FLAG]
        if not self._built_in:
            page = self._stored.rows(
                asked, filters=filters, marker=marker, limit=limit, sort_key=sort_key, sort_dir=sort_dir
            )
            return [_cut(_named(asked, row), columns) for row in page]
        needed = list(dict.fromkeys((*asked, "uuid", sort_key)))
        found = [_named(needed, row) for row in self._stored.rows(needed, filters=filters)]
        found += [facts for facts in self._built_in.values() if filters.items() <= facts.items()]
        return [_cut(facts, columns) for facts in _after(_in_order(found, sort_key, sort_dir), marker)[:limit]]


def _facts(rule: BuiltInRule) -> Facts:
    """Return a built-in rule in the form of a row."""
    facts: Facts = {name: getattr(rule.compiled, name) for name in _COMPILED}
    texts = {name: orjson.dumps(rule.document.get(name) or []).decode() for name in ("conditions", "actions")}
    return facts | texts | {"created_at": None, "updated_at": None}


def _named(columns: Sequence[str], row: Sequence[object]) -> Facts:
    return dict(zip(columns, row, strict=True)) | {_FLAG: False}


def _cut(facts: Facts, columns: Sequence[str]) -> Row:
    return tuple(facts[name] for name in columns)


def _in_order(found: list[Facts], sort_key: str, sort_dir: str) -> list[Facts]:
    """Sort as the database does: what has no value comes first, what is alike keeps its order; or all in reverse."""
    if sort_key != "id":
        found = sorted(found, key=lambda facts: (False,) if facts[sort_key] is None else (True, facts[sort_key]))
    return found[::-1] if sort_dir == "desc" else found


def _after(found: list[Facts], marker: str | None) -> list[Facts]:
    if marker is None:
        return found
    places = [place for place, facts in enumerate(found) if facts["uuid"] == marker]
    if not places:
        raise MarkerNotFound(marker=marker)
    return found[places[0] + 1 :]


def of(request: Request) -> RuleRows:
    """Return all rules."""
    return RuleRows(request.store.rules, request.settings.rule_book.built_in)

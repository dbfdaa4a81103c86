"""`/v1/inspection_rules`: list and show inspection rules, stored and built-in ones alike.

Stored rules are in the database, built-in ones in the operator's file, which is read at start. A list shows stored
rules before built-in ones unless it is sorted. There are few rules, so with built-in ones the page is selected here;
without them the database selects it. Conditions and actions of a sensitive rule are not shown.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import answers, listing, projection
from ironic.api.answers import Answer
from ironic.api.crud import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import MarkerNotFound
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.rules.inspector import IRONIC
from ironic.core.values.value_types import show_time
from ironic.db import PageOfRows, Row, Stretch
from ironic.inspection.rules import BuiltInRule

if TYPE_CHECKING:
    from ironic.db.inspection_rules import InspectionRules


# A column that is in no table.
_FLAG: Final = "built_in"
_COMPILED: Final = ("uuid", "priority", "description", "scope", "sensitive", "phase", "built_in")

_NO_FILTERS: Final[Mapping[str, Any]] = {}

Facts = dict[str, Any]


class RuleRows:
    """Stored and built-in rules, read as rows of one table."""

    def __init__(self, stored: "InspectionRules", built_in: Iterable[BuiltInRule]) -> None:
        self._stored = stored
        self._built_in = {rule.compiled.uuid: _built_in_facts(rule) for rule in built_in}

    def is_built_in(self, uuid: str) -> bool:
        """Return whether a rule is a built-in one."""
        return uuid in self._built_in

    def row(self, columns: Sequence[str], uuid: str) -> Row:
        """Return these columns of one rule; raises InspectionRuleNotFound."""
        if uuid in self._built_in:
            return _cut(self._built_in[uuid], columns)
        asked = [name for name in columns if name != _FLAG]
        return _cut(_stored_facts(asked, self._stored.row(asked, uuid)), columns)

    def page(self, columns: Sequence[str], page: PageOfRows, visible: Mapping[str, object] = _NO_FILTERS) -> Stretch:
        """Return these columns of one page of rules; a caller who may list rules sees all; raises MarkerNotFound."""
        page = replace(page, filters={**page.filters, **visible})
        asked = [name for name in columns if name != _FLAG]
        if not self._built_in:
            found, is_cut = self._stored.page(asked, page)
            return Stretch([_cut(_stored_facts(asked, row), columns) for row in found], is_cut)
        # Each with what it is ordered by; what may be long is read for the rules of the page only.
        short = ("uuid", page.sort_key)
        rules = [_stored_facts(short, row) for row in self._stored.rows(short, filters=page.filters)]
        rules += [facts for facts in self._built_in.values() if page.filters.items() <= facts.items()]
        if page.sort_key != "id":
            # As the database does: null comes first, equal values keep their order, and "desc" reverses all.
            rules.sort(key=lambda facts: (False,) if facts[page.sort_key] is None else (True, facts[page.sort_key]))
        if page.sort_dir == "desc":
            rules.reverse()
        start = 0
        if page.marker is not None:
            positions = [position for position, facts in enumerate(rules, 1) if facts["uuid"] == page.marker]
            if not positions:
                raise MarkerNotFound(marker=page.marker)
            start = positions[0]
        return self._completed(columns, [facts["uuid"] for facts in rules[start:][: page.limit]], page)

    def _completed(self, columns: Sequence[str], uuids: Sequence[str], page: PageOfRows) -> Stretch:
        """Return these columns of rules given by UUID, up to the first one beyond the limit of bytes."""
        asked = list(dict.fromkeys(("uuid", *(name for name in columns if name != _FLAG))))
        stored = [uuid for uuid in uuids if uuid not in self._built_in]
        found: dict[str, Facts] = dict(self._built_in)
        is_cut = False
        if stored:
            # In this order a page of large rules has the first ones.
            limited = replace(page, filters={"uuid_in": stored}, marker=None, limit=None)
            rows, is_cut = self._stored.page(asked, limited)
            found |= {facts["uuid"]: facts for facts in (_stored_facts(asked, row) for row in rows)}
            if is_cut and uuids[0] not in found:  # the database sorts text in a way of its own
                found[uuids[0]] = _stored_facts(asked, self._stored.row(asked, uuids[0]))
        whole = itertools.takewhile(found.__contains__, uuids) if is_cut else uuids
        # A rule that is gone by now is left out.
        return Stretch([_cut(found[uuid], columns) for uuid in whole if uuid in found], is_cut)


def _built_in_facts(rule: BuiltInRule) -> Facts:
    """Return the columns of a built-in rule by name."""
    facts: Facts = {name: getattr(rule.compiled, name) for name in _COMPILED}
    texts = {name: orjson.dumps(rule.document.get(name) or []).decode() for name in ("conditions", "actions")}
    return facts | texts | {"dialect": IRONIC, "created_at": None, "updated_at": None}


def _stored_facts(columns: Sequence[str], row: Sequence[object]) -> Facts:
    return dict(zip(columns, row, strict=True)) | {_FLAG: False}


def _cut(facts: Facts, columns: Sequence[str]) -> Row:
    return tuple(facts[name] for name in columns)


def of(request: Request) -> RuleRows:
    """Return all rules, stored and built-in."""
    return RuleRows(request.store.rules, request.settings.rule_book.built_in)


def unless_sensitive(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return the stored JSON of each rule's conditions or actions, null for a sensitive rule."""
    return [None if sensitive else orjson.Fragment(text or "[]") for sensitive, text in rows]


def hits(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return how often each rule was evaluated, applied and failed."""
    uuids = [uuid for (uuid,) in rows]
    found = request.store.rule_hits.of(uuids)
    return [found[uuid]._asdict() | {"last_matched_at": show_time(found[uuid].last_matched_at)} for uuid in uuids]


projection.bind_computed(InspectionRule, conditions=unless_sensitive, actions=unless_sensitive, hits=hits)


def index(request: Request, page: Page) -> Answer:
    """List inspection rules."""
    return listing.answer(request, InspectionRule, of(request), page)


def show(request: Request, rule: str, view: Projection) -> Answer:
    """Show one inspection rule."""
    return answers.document(view.document(request, of(request).row(view.columns, rule)))


ROUTES = (
    Route(
        "GET",
        "/v1/inspection_rules",
        index,
        since=96,
        shape=FAULT,
        rule="baremetal:inspection_rule:list_all",
        of=List(InspectionRule),
    ),
    Route(
        "GET",
        "/v1/inspection_rules/{rule}",
        show,
        since=96,
        shape=FAULT,
        rule="baremetal:inspection_rule:get",
        of=One(InspectionRule),
    ),
)

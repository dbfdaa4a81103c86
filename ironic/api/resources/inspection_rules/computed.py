"""What an inspection rule shows besides its columns: its parts unless it is sensitive, and how often it ran."""

from collections.abc import Sequence
from typing import Any

import orjson

from ironic.api import computed
from ironic.api.request import Request
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.values import show_time


def unless_sensitive(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return the stored text of each rule's conditions or actions, null for a sensitive rule."""
    return [None if sensitive else orjson.Fragment(text or "[]") for sensitive, text in rows]


def hits(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return how often each rule was evaluated, applied and failed."""
    uuids = [uuid for (uuid,) in rows]
    found = request.store.rule_hits.of(uuids)
    return [found[uuid]._asdict() | {"last_matched_at": show_time(found[uuid].last_matched_at)} for uuid in uuids]


computed.bind(InspectionRule, conditions=unless_sensitive, actions=unless_sensitive, hits=hits)

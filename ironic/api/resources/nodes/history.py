"""What happened to a node: a list of entries, oldest first, that nobody can change.

Source: facts/fields.yaml, history_entry. The plain list shows the beginning of long texts only.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from ironic.api import answers, idents, listing
from ironic.api.answers import Answer
from ironic.api.fields import NOBODY, Field, Resource
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request, printable
from ironic.api.resources.nodes import idents as node_idents
from ironic.api.resources.nodes.views import text_without_secrets
from ironic.api.routes import Route
from ironic.api.types import Datetime, Integer, Text, Uuid, ValueType
from ironic.core.resource_errors import NodeHistoryNotFound
from ironic.core.secrets import masked_text

_LONGEST: Final = 255
_CUT: Final = 251


def shortened(text: str | None) -> str | None:
    """Return the text as the plain list shows it."""
    text = masked_text(text) if text else text
    return text if text is None or len(text) <= _LONGEST else f"{text[:_CUT]}..."


def link_to_entry(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return the one link of each entry; there is no bookmark."""
    base = request.url("/v1/nodes")
    return [[{"href": f"{base}/{node}/history/{entry}", "rel": "self"}] for entry, node in rows]


class HistoryEntry(Resource):
    """Something that happened to a node."""

    collection = "history"
    singular = "history entry"
    marker: ClassVar[ValueType] = Uuid()
    sorted_by = "created_at"
    since_fields = None
    since_detail = 78

    uuid = Field(Uuid(), since=78, write=NOBODY, plain=True)
    created_at = Field(Datetime(), since=78, write=NOBODY, plain=True)
    severity = Field(Text(), since=78, write=NOBODY, plain=True)
    event_type = Field(Text(), since=78, write=NOBODY)
    event = Field(Text(None), since=78, write=NOBODY, plain=True, brief=shortened, render=text_without_secrets)
    conductor = Field(Text(), since=78, write=NOBODY)
    user = Field(Text(), since=78, write=NOBODY)
    project = Field(Text(), since=113, write=NOBODY)
    state = Field(Text(), since=115, write=NOBODY)
    target_provision_state = Field(Text(), since=115, write=NOBODY)
    duration_seconds = Field(Integer(), since=115, write=NOBODY)
    links = Field(ValueType(), since=78, write=NOBODY, plain=True, needs=("uuid", "node_uuid"), gather=link_to_entry)


def index(request: Request, node: str, page: Page) -> Answer:
    """List what happened to a node."""
    node_id, uuid = node_idents.row(request, ("id", "uuid"), node)
    path = f"nodes/{uuid}/history"
    return listing.answer(request, HistoryEntry, request.store.history, page, {"node_id": node_id}, path=path)


def show(request: Request, node: str, entry: str, view: Projection) -> Answer:
    """Show one thing that happened to a node."""
    (node_id,) = node_idents.row(request, ("id",), node)
    if not idents.is_uuid(entry):
        raise NodeHistoryNotFound(entry=printable(entry))
    its_node, *row = request.store.history.row(("node_id", *view.columns), entry)
    if its_node != node_id:
        raise NodeHistoryNotFound(entry=entry)
    return answers.document(view.document(request, row))


_RULE: Final = "baremetal:node:history:get"

ROUTES = (
    Route("GET", "/v1/nodes/{node}/history", index, since=78, rule=_RULE, of=List(HistoryEntry)),
    Route("GET", "/v1/nodes/{node}/history/{entry}", show, since=78, rule=_RULE, of=One(HistoryEntry)),
)

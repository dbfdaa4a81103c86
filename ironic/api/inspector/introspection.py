"""`/v1/introspection`: start, list, show and abort the inspection of nodes.

An introspection is the last inspection of a node, by whichever API it was started. Its state follows from the node's;
times and error are the node's too. Source: doc/contract/inspection.md#api-of-the-standalone-inspector.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.inspector.versions_document import links
from ironic.api.json_schema import OPEN, items
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue, InvalidStateRequested, NotFound
from ironic.core.flows.flow import INSPECT
from ironic.core.memory import introspection
from ironic.core.secrets.masking import REPLACEMENT, masked_text
from ironic.core.values.value_types import Bool, Integer, Uuid, Words, show_time
from ironic.db.introspections import FAILED, FINISHED, WAITING, WORKING, IntrospectionRow

_STAGES: Final = (introspection.STARTING, introspection.PROCESSING, introspection.REAPPLYING)
# State of an introspection -> the progress of the inspection.
_PROGRESS: Final[Mapping[str, str]] = {
    "waiting": WAITING,
    "error": FAILED,
    "finished": FINISHED,
    **dict.fromkeys(_STAGES, WORKING),
}
_STATE: Final = {progress: state for state, progress in _PROGRESS.items() if progress != WORKING}
_READ_ERROR: Final = {"error": ("baremetal:node:get:last_error",)}


def start(request: Request, node: str, manage_boot: bool = True) -> Answer:
    """Start the inspection of a node; with ``manage_boot`` false the caller boots the machine."""
    facts = named_nodes.node_values(request, node)
    node_rules.check_verb(facts, "inspect", by_holder=False)
    node_rules.check_marks(facts, "inspect")
    conductor = request.conductors.serving(facts)
    if manage_boot:
        conductor.change_provision_state(request.context, facts.uuid, "inspect", {})
    else:
        conductor.await_inspection_data(request.context, facts.uuid)
    return answers.accepted()


def abort(request: Request, node: str) -> Answer:
    """Abort the inspection of a node, which waits for its ramdisk."""
    facts = named_nodes.node_values(request, node)
    # The verb would abort other operations as well.
    if facts.provision_state != INSPECT.waiting:
        raise InvalidStateRequested(action="abort of its inspection", node=facts.uuid, state=facts.provision_state)
    request.conductors.serving(facts).change_provision_state(request.context, facts.uuid, "abort", {})
    return answers.accepted()


def show(request: Request, node: str) -> Answer:
    """Show the last inspection of a node."""
    node_id, uuid = named_nodes.row(request, ("id", "uuid"), node)
    row = request.store.introspections.of(node_id)
    if row is None:
        raise NotFound(f"Node {uuid} was not inspected, or a later operation has ended what was known of it.")
    return answers.document(_documents(request, [row])[0])


def index(request: Request, marker: str | None = None, limit: int | None = None, state: Iterable[str] = ()) -> Answer:
    """List the last inspections of nodes, the newest first."""
    wanted = frozenset(state)
    if unknown := wanted - _PROGRESS.keys():
        raise InvalidParameterValue(err=f"state has {len(unknown)} unknown words; known are {', '.join(_PROGRESS)}.")
    most = request.settings.max_limit
    rows = request.store.introspections.page(
        limit=min(limit or most, most),
        marker=marker,
        progress=sorted({_PROGRESS[word] for word in wanted}) or None,
        project=access.own_project(request),
    )
    found = _documents(request, rows)
    # Which stage a working node is in is not in its columns.
    return answers.document({"introspection": [one for one in found if not wanted or one["state"] in wanted]})


def _documents(request: Request, rows: Iterable[IntrospectionRow]) -> list[dict[str, Any]]:
    hidden = access.hidden_fields(request, _READ_ERROR) if request.is_judged else None
    return [_document(request, row, hidden) for row in rows]


def _document(
    request: Request, row: IntrospectionRow, hidden: Callable[[str | None, str | None], access.Hidden] | None
) -> dict[str, Any]:
    known = introspection.of(row.driver_internal_info)
    failed = row.progress == FAILED
    # The column of the end is for successful inspections.
    finished_at = row.provision_updated_at if failed else row.inspection_finished_at
    error = row.last_error and masked_text(row.last_error) if failed else None
    if error and hidden is not None and hidden(row.owner, row.lessee):
        error = REPLACEMENT
    return {
        "uuid": row.uuid,
        "state": _STATE.get(row.progress, known.stage),
        "finished": row.progress in (FAILED, FINISHED),
        "error": error,
        "started_at": show_time(row.inspection_started_at) or known.started_at,
        "finished_at": show_time(finished_at) if row.progress in (FAILED, FINISHED) else None,
        "links": links(request, f"introspection/{row.uuid}"),
    }


_ALL: Final = "/v1/introspection"
_ONE: Final = f"{_ALL}/{{node}}"
_CHANGE: Final = "baremetal:node:set_provision_state"

ROUTES = (
    Route(
        "GET",
        _ALL,
        index,
        rule=access.LIST_NODES,
        query=(
            Argument("marker", Uuid()),
            Argument("limit", Integer(0, None, digits=True)),
            Argument("state", Words()),
        ),
        ok=200,
        answer=items("introspection", OPEN),
    ),
    Route("GET", _ONE, show, rule="baremetal:node:get_states", ok=200, answer=OPEN),
    Route("POST", _ONE, start, rule=_CHANGE, query=(Argument("manage_boot", Bool()),), ok=202),
    Route("POST", f"{_ONE}/abort", abort, rule=_CHANGE, ok=202),
)

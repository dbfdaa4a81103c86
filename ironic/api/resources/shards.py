"""`/v1/shards`: list the shards with the number of their nodes. A shard exists only as a field of nodes."""

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.error_responses import Refused
from ironic.api.json_schema import NUMBER, TEXT, closed, items
from ironic.api.request import Request
from ironic.api.routes import FAULT, Refusing, Route

# The name under which clients know nodes without a shard.
NAMELESS = "None"


def index(request: Request) -> Answer:
    """List the shards with the number of their nodes."""
    counted = request.store.nodes.count_by_shard()
    return answers.document(
        {"shards": [{"name": NAMELESS if name is None else name, "count": number} for name, number in counted]}
    )


_NO_SHARD = Refusing(
    lambda: Refused(404, "Shards can only be listed; list the nodes of one by /v1/nodes?shard=<name>.")
)
_SHARDS = items("shards", closed({"name": TEXT, "count": NUMBER}, ["name", "count"]))
ROUTES = (
    Route("GET", "/v1/shards", index, since=82, shape=FAULT, rule="baremetal:shards:get", ok=200, answer=_SHARDS),
    Route("GET", "/v1/shards/{shard}", _NO_SHARD, since=82, shape=FAULT),
)

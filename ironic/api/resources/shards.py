"""Shards: how many nodes carry each shard's name. They exist only as a field of nodes."""

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.errors import Refused
from ironic.api.refusing import Refuses
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.api.schema import NUMBER, TEXT, closed, items

# What clients know nodes without a shard as.
NAMELESS = "None"


def index(request: Request) -> Answer:
    """List the shards with the number of their nodes."""
    counted = request.store.nodes.count_by_shard()
    return answers.document(
        {"shards": [{"name": NAMELESS if name is None else name, "count": number} for name, number in counted]}
    )


_NO_ONE = Refuses(lambda: Refused(404, "A shard has nothing to show; list its nodes by /v1/nodes?shard=<name>."))
_SHARDS = items("shards", closed({"name": TEXT, "count": NUMBER}, ["name", "count"]))
ROUTES = (
    Route("GET", "/v1/shards", index, since=82, shape=FAULT, rule="baremetal:shards:get", ok=200, answer=_SHARDS),
    Route("GET", "/v1/shards/{shard}", _NO_ONE, since=82, shape=FAULT),
)

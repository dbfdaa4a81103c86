"""What inspection rules did with a node in the last inspection in which any ran."""

from typing import Any, Final

import orjson

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import RUN_OF_RULES
from ironic.core.resource_errors import NodeRuleRunNotFound
from ironic.core.secrets import REPLACEMENT

_NOTHING: Final[dict[str, Any]] = {"rules": [], "changes": {"node": [], "ports": {}, "plugin_data": []}}
_READ: Final = "baremetal:inspection_rule:get"


def show(request: Request, node: str) -> Answer:
    """Show what rules did in the last inspection of a node in which any ran."""
    node_id, uuid = named_nodes.row(request, ("id", "uuid"), node)
    run = request.store.rule_runs.of(node_id)
    if run is None:
        raise NodeRuleRunNotFound(node=uuid)
    early, later = (orjson.loads(text) if text else _NOTHING for text in (run.early, run.later))
    changes = {
        "node": later["changes"]["node"],
        "ports": later["changes"]["ports"],
        "plugin_data": early["changes"]["plugin_data"] + later["changes"]["plugin_data"],
    }
    told = {"rules": early["rules"] + later["rules"], "changes": changes}
    if not (request.services.policy.is_open or access.allows(request, _READ)):
        told = _without_rules(told)
    return answers.document(told)


def _without_rules(told: dict[str, Any]) -> dict[str, Any]:
    """Leave what may be known by who owns the machine but may not read rules: which one did something, and where."""
    rules = [
        {"uuid": rule["uuid"], "description": None, "applies": rule["applies"], "conditions": []}
        for rule in told["rules"]
    ]
    changes = told["changes"]
    ports = {uuid: _without_values(patch) for uuid, patch in changes["ports"].items()}
    shown = {name: _without_values(changes[name]) for name in ("node", "plugin_data")}
    return {"rules": rules, "changes": {**shown, "ports": ports}}


def _without_values(patch: list[dict[str, object]]) -> list[dict[str, Any]]:
    return [one | {"value": REPLACEMENT} if "value" in one else one for one in patch]


ROUTES = (
    Route(
        "GET",
        "/v1/nodes/{node}/inspection_rules",
        show,
        since=96,
        rule="baremetal:node:inventory:get",
        ok=200,
        answer=RUN_OF_RULES,
    ),
)

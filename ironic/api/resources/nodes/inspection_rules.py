"""`/v1/nodes/{node}/inspection_rules`: the effect of inspection rules on a node in its last inspection that ran any."""

from typing import Any, Final

import orjson

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.json_schema import RUN_OF_RULES
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors.resource_errors import NodeRuleRunNotFound
from ironic.core.secrets.masking import REPLACEMENT

_NOTHING: Final[dict[str, Any]] = {"rules": [], "changes": {"node": [], "ports": {}, "plugin_data": []}}
_READ: Final = "baremetal:inspection_rule:get"


def show(request: Request, node: str) -> Answer:
    """Show the effect of inspection rules on a node in its last inspection that ran any."""
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
    result = {"rules": early["rules"] + later["rules"], "changes": changes}
    if not (request.services.policy.is_open or access.allows(request, _READ)):
        result = _without_rules(result)
    return answers.document(result)


def _without_rules(result: dict[str, Any]) -> dict[str, Any]:
    """Return the part for the owner of a node who may not read rules: which rules applied, and the changed paths."""
    rules = [
        {"uuid": rule["uuid"], "description": None, "applies": rule["applies"], "conditions": []}
        for rule in result["rules"]
    ]
    changes = result["changes"]
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

"""`/v1/inspection_rules/evaluate`: a dry run of inspection rules, on an inspected node or on given data.

Rules are evaluated in this process and nothing is written. Rules of the request see secrets only if the caller could
also store them: otherwise a caller who may only read rules could guess a password letter by letter.
"""

from typing import Any, Final

import orjson

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.json_schema import OPEN, RUN_OF_RULES
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.core.resource_errors import NodeInventoryNotFound
from ironic.core.rules import PHASES, AnyRule, Facts, Masking, check_rule
from ironic.core.rules.inspector import INSPECTOR, compile_rule, stored_form
from ironic.core.values import Array, Enum, Object, Text
from ironic.db.node_rule_effects import Effects
from ironic.inspection import posted_data
from ironic.inspection.rules import StoredNode, dry_run, facts_of, facts_without_node

_MOST_RULES: Final = 1000
_CREATE: Final = "baremetal:inspection_rule:create"
_READ: Final = "baremetal:inspection_rule:get"


class Documents(Array):
    """The type of a list of rules; `ironic.core.rules` checks the rules themselves."""

    def validate(self, value: object) -> list[object]:
        """Check the number of rules."""
        rules = super().validate(value)
        if len(rules) > _MOST_RULES:
            raise ValueError(f"must not have more than {_MOST_RULES} rules")
        return rules

    def described(self) -> dict[str, Any]:
        """Return the schema of the list."""
        return {"items": OPEN, "maxItems": _MOST_RULES}


def evaluate(request: Request, **given: Any) -> Answer:
    """Evaluate inspection rules without any change, on an inspected node or on given data."""
    masking: Masking | None = None
    if (documents := given.get("rules")) is not None:
        if not (request.services.policy.is_open or access.allows(request, _CREATE)):
            masking = "always"
        rules = [_compiled(document) for document in documents]
    else:
        try:
            rules = request.settings.rule_book.rules(request.store)
        except InspectionRuleFailure as error:
            # An action or operator of a rule came from a package that is gone; inspections fail on it as well.
            raise InvalidParameterValue(err=str(error)) from None
    facts, interface, effects = _facts(request, given)
    if documents is not None:
        # The others are not deleted, they are not asked for.
        effects = {rule.uuid: effects[rule.uuid] for rule in rules if rule.uuid in effects}
    result = dry_run(rules, facts, phase=given.get("phase"), interface=interface, masking=masking, effects=effects)
    return answers.document(result)


def _compiled(document: object) -> AnyRule:
    """Compile a rule of the request; one with the dialect of the standalone inspector is a document of its API."""
    if isinstance(document, dict) and document.get("dialect") == INSPECTOR:
        return compile_rule(stored_form({name: one for name, one in document.items() if name != "dialect"}))
    return check_rule(document)


def _facts(request: Request, given: dict[str, Any]) -> tuple[Facts, str | None, Effects]:
    """Return the facts for the rules, the inspect interface of the node, None for given data, and earlier effects."""
    has_data = bool(given.keys() & {"inventory", "plugin_data"})
    if ("node" in given) == has_data:
        raise InvalidParameterValue(err="Give either a node, or an inventory and plugin_data.")
    if has_data:
        return facts_without_node(given.get("inventory", {}), given.get("plugin_data", {})), None, {}
    node = request.store.nodes.get(named_nodes.check_ident(request, given["node"]))
    access.require(request, access.SEE_NODE, node, given["node"])
    texts = request.settings.inventories.texts(request.store, node.id, node.uuid)
    if texts is None:
        raise NodeInventoryNotFound(node=node.uuid)
    inventory, plugin_data = (orjson.loads(str(text)) for text in texts)
    facts = facts_of(StoredNode.read(request.store, node), inventory, posted_data.processed_part(plugin_data))
    return facts, node.inspect_interface or "", request.store.rule_effects.of(node.id)


ROUTES = (
    Route(
        "POST",
        "/v1/inspection_rules/evaluate",
        evaluate,
        since=96,
        shape=FAULT,
        rule=_READ,
        body_limit="max_body_inspection",
        body=BodyOrQuery(
            Argument("node", Text()),
            Argument("inventory", Object()),
            Argument("plugin_data", Object()),
            Argument("rules", Documents()),
            Argument("phase", Enum(*PHASES, name="phase")),
        ),
        ok=200,
        answer=RUN_OF_RULES,
    ),
)

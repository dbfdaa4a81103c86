"""What inspection rules would do with a machine.

A dry run evaluates in this process and writes nothing. Rules that a caller brings along see secrets only if the caller
could store them as well: else whoever may read rules could ask one for a password, letter by letter.
"""

from typing import Any, Final

import orjson

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.api.schema import OPEN, RUN_OF_RULES
from ironic.core.errors import InspectionRuleFailure, InvalidParameterValue
from ironic.core.resource_errors import NodeInventoryNotFound
from ironic.core.rules import PHASES, CompiledRule, Facts, Masking, check_rule
from ironic.core.values import Array, Enum, Object, Text
from ironic.inspection.rules import StoredNode, facts_of, facts_of_nobody, try_out

_MOST_RULES: Final = 1000


class Documents(Array):
    """As many rules as can be tried out at once; `ironic.core.rules` judges them."""

    def validate(self, value: object) -> list[object]:
        """Check their number."""
        rules = super().validate(value)
        if len(rules) > _MOST_RULES:
            raise ValueError(f"must not have more than {_MOST_RULES} rules")
        return rules

    def described(self) -> dict[str, Any]:
        """Say how many there can be."""
        return {"items": OPEN, "maxItems": _MOST_RULES}


_CREATE: Final = "baremetal:inspection_rule:create"
_READ: Final = "baremetal:inspection_rule:get"


def evaluate(request: Request, **given: Any) -> Answer:
    """Tell what rules would do with a node that was inspected, or with data at hand."""
    rules, masking = _rules(request, given)
    facts, interface = _facts(request, given)
    told = try_out(rules, facts, phase=given.get("phase"), interface=interface, masking=masking)
    return answers.document(told)


def _rules(request: Request, given: dict[str, Any]) -> tuple[list[CompiledRule], Masking | None]:
    """Return the rules, and how to mask secrets from them where the option doesn't say."""
    documents = given.get("rules")
    if documents is None:
        return _stored_rules(request), None
    may_see = request.services.policy.is_open or access.allows(request, _CREATE)
    return [check_rule(document) for document in documents], None if may_see else "always"


def _stored_rules(request: Request) -> list[CompiledRule]:
    try:
        return request.settings.rule_book.rules(request.store)
    except InspectionRuleFailure as error:
        # Its action or operator came from a package that is gone; inspections fail on it as well.
        raise InvalidParameterValue(err=str(error)) from None


def _facts(request: Request, given: dict[str, Any]) -> tuple[Facts, str | None]:
    """Return what is known, and the inspect interface if that is about a node."""
    has_data = bool(given.keys() & {"inventory", "plugin_data"})
    if ("node" in given) == has_data:
        raise InvalidParameterValue(err="Give either a node, or an inventory and plugin_data.")
    if has_data:
        return facts_of_nobody(given.get("inventory", {}), given.get("plugin_data", {})), None
    node = request.store.nodes.get(named_nodes.check(request, given["node"]))
    access.require(request, access.SEE_NODE, node, given["node"])
    texts = request.settings.inventories.texts(request.store, node.id, node.uuid)
    if texts is None:
        raise NodeInventoryNotFound(node=node.uuid)
    inventory, plugin_data = (orjson.loads(str(text)) for text in texts)
    return facts_of(StoredNode.read(request.store, node), inventory, plugin_data), node.inspect_interface or ""


ROUTES = (
    Route(
        "POST",
        "/v1/inspection_rules/evaluate",
        evaluate,
        since=96,
        shape=FAULT,
        rule="baremetal:inspection_rule:get",
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

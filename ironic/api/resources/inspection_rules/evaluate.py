"""`/v1/inspection_rules/evaluate`: a dry run of inspection rules, on an inspected node, on given data, or on both.

Rules are evaluated in this process and nothing is written. Rules of the request see secrets only if the caller could
also store them: otherwise a caller who may only read rules could guess a password letter by letter. The same holds for
stored rules on data of the request beside a node.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.json_schema import OPEN, RUN_OF_RULES, TEXT, closed, list_of
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import HookLoadError, InspectionRuleFailure, InvalidParameterValue
from ironic.core.errors.resource_errors import NodeInventoryNotFound
from ironic.core.rules import PHASES, AnyRule, Facts, Masking, check_rule
from ironic.core.rules.inspector import INSPECTOR, compile_rule, stored_form
from ironic.core.values.value_types import Array, Bool, Enum, Object, Text, show_time
from ironic.db import NodeRecord
from ironic.db.node_rule_effects import Effects
from ironic.inspection import posted_data
from ironic.inspection.dry_run import HookRun, dry_run, note_without_node
from ironic.inspection.hooks import enabled_hooks
from ironic.inspection.rules import StoredNode, facts_of, facts_without_node

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
    """Evaluate inspection rules without any change, on an inspected node, on given data, or on both."""
    masking: Masking | None = None
    documents = given.get("rules")
    may_create = request.services.policy.is_open or access.allows(request, _CREATE)
    if not may_create and (documents is not None or ("node" in given and _has_data(given))):
        masking = "always"
    if documents is not None:
        rules = [_compiled(document) for document in documents]
    else:
        try:
            rules = request.settings.rule_book.rules(request.store)
        except InspectionRuleFailure as error:
            # An action or operator of a rule came from a package that is gone; inspections fail on it as well.
            raise InvalidParameterValue(err=str(error)) from None
    case = _case(request, given)
    effects = case.effects
    if documents is not None:
        # The others are not deleted, they are not asked for.
        effects = {rule.uuid: effects[rule.uuid] for rule in rules if rule.uuid in effects}
    result = dry_run(
        rules,
        case.facts,
        phase=given.get("phase"),
        interface=case.interface,
        masking=masking,
        effects=effects,
        hooks=_hooks(request, case) if given.get("hooks") else None,
    )
    notes = [*case.notes, *result.pop("notes", [])]
    if case.node is None and (about := note_without_node(rules)):
        notes.insert(0, about)
    return answers.document(result | ({"notes": notes} if notes else {}))


def _compiled(document: object) -> AnyRule:
    """Compile a rule of the request; one with the dialect of the standalone inspector is a document of its API."""
    if isinstance(document, dict) and document.get("dialect") == INSPECTOR:
        return compile_rule(stored_form({name: one for name, one in document.items() if name != "dialect"}))
    return check_rule(document)


class Case(NamedTuple):
    """What a dry run is made on; ``interface`` is the inspect interface, None without a node."""

    facts: Facts
    node: StoredNode | None = None
    interface: str | None = None
    effects: Effects = {}
    notes: tuple[str, ...] = ()


def _has_data(given: dict[str, Any]) -> bool:
    return bool(given.keys() & {"inventory", "plugin_data"})


def _case(request: Request, given: dict[str, Any]) -> Case:
    """Return what to evaluate the rules on: data of the request, a node with its stored data, or both."""
    if "node" not in given:
        if not _has_data(given):
            raise InvalidParameterValue(err="Give a node, or an inventory and plugin_data, or both.")
        return Case(facts_without_node(given.get("inventory", {}), given.get("plugin_data", {})))
    node = request.store.nodes.get(named_nodes.check_ident(request, given["node"]))
    access.require(request, access.SEE_NODE, node, given["node"])
    notes: tuple[str, ...] = ()
    if _has_data(given):
        inventory, plugin_data = given.get("inventory", {}), given.get("plugin_data", {})
    else:
        (inventory, plugin_data), notes = _stored_data(request, node, as_posted=bool(given.get("hooks")))
    source = StoredNode.read(request.store, node)
    facts = facts_of(source, inventory, plugin_data)
    return Case(facts, source, node.inspect_interface or "", request.store.rule_effects.of(node.id), notes)


def _stored_data(request: Request, node: NodeRecord, *, as_posted: bool) -> tuple[list[Any], tuple[str, ...]]:
    """Return the data of the node's last inspection, and notes about them; those that were refused are the last ones.

    ``as_posted``: the plug-in data without what hooks and rules have made of them.
    """
    notes: tuple[str, ...] = ()
    texts: Sequence[str] | None = request.store.refused_reports.texts(node.id)
    if texts is None:
        texts = request.settings.inventories.texts(request.store, node.id, node.uuid)
    elif (at := request.store.refused_reports.stored_at(node.id)) is not None:
        notes = (f"The data are those of the inspection that failed at {show_time(at)}.",)
    if texts is None:
        raise NodeInventoryNotFound(node=node.uuid)
    inventory, plugin_data = (orjson.loads(str(text)) for text in texts)
    part = posted_data.posted_part if as_posted else posted_data.processed_part
    return [inventory, part(plugin_data)], notes


def _hooks(request: Request, case: Case) -> HookRun:
    """Return the enabled hooks, or raise InvalidParameterValue where they would not run or can't be loaded."""
    interface = enabled_hooks.OF_RAMDISKS if case.interface is None else case.interface
    if interface not in enabled_hooks.INTERFACES:
        raise InvalidParameterValue(
            err=f"Dry runs call hooks for inspect interfaces {' and '.join(enabled_hooks.INTERFACES)} only; the node "
            f'uses {interface or "none"}. Leave out "hooks", or send the inventory without the node.'
        )
    try:
        return HookRun.of_service(request.store, case.node, interface, case.facts.inventory)
    except HookLoadError as error:
        raise InvalidParameterValue(err=str(error)) from None


_ANSWER = closed(RUN_OF_RULES["properties"] | {"hooks": list_of(OPEN), "notes": list_of(TEXT)}, ["rules", "changes"])

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
            Argument("hooks", Bool()),
        ),
        ok=200,
        answer=_ANSWER,
    ),
)

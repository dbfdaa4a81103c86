"""Who may have which steps run, judged by the list that will run, wherever its steps come from.

A request's own steps are judged before anything else is looked at, those of a runbook where it is found; here stand the
deploy templates that the instance's traits choose, and the child nodes on which steps are done. What was judged travels
with the request, so that the conductor runs that and nothing else. Source:
doc/contract/policies.md#steps-and-child-nodes.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from ironic.api import access
from ironic.api.request import Request
from ironic.api.resources.nodes.provision_request import DEPLOYING
from ironic.core import user_steps
from ironic.core.errors import InvalidParameterValue
from ironic.core.flow import FLOWS
from ironic.core.node_rules import NodeValues
from ironic.core.steps import Step, mark_of_child
from ironic.core.traits import is_list_of_traits

_ASK_ANYTHING: Final = "baremetal:node:set_provision_state"
LISTS: Final = tuple(f"{flow.name}_steps" for flow in FLOWS if flow.list_verbs)
# Lists with a rule of their own.
_GUARDED: Final = ("clean_steps", "service_steps")
# What was judged is stored with each step, so that many steps for many children take much room.
_MOST_JUDGED: Final = 10_000


class Child(NamedTuple):
    """A child node as rules look at it."""

    uuid: str
    owner: str | None
    lessee: str | None


def rules_of_lists(given: Mapping[str, object]) -> list[str]:
    """Return the rules for the lists of steps that came with a request."""
    return [f"{_ASK_ANYTHING}:{name}" for name in _GUARDED if name in given]


def judged(request: Request, node: NodeValues, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Refuse what the caller may not have run; return the arguments with what the judgement was about."""
    if request.services.policy.is_open:
        return arguments
    family = _Family(request, node, [_ASK_ANYTHING, *rules_of_lists(arguments)])
    lists = {name: list(map(family.judged, arguments[name])) for name in LISTS if name in arguments}
    return arguments | lists | (_templates(request, node) if verb in DEPLOYING else {})


class _Family:
    """The child nodes of a node, looked up when the first step is for them, and judged once for all steps."""

    def __init__(self, request: Request, node: NodeValues, rules: Sequence[str]) -> None:
        self._request, self._node, self._rules = request, node, rules
        self._allowed: set[str] = set()
        self._left = _MOST_JUDGED

    def judged(self, document: dict[str, Any]) -> dict[str, Any]:
        """Judge a step on each child that it is for; without a list these are the children that the caller may see."""
        step = Step.parse(document)
        if not step.is_for_children:
            return document
        chosen = self._chosen(step)
        self._left -= len(chosen)
        if self._left < 0:
            raise InvalidParameterValue(err=f"Steps are for child nodes at most {_MOST_JUDGED} times in one request.")
        guarded = self._guarded.intersection(user_steps.names([document]))
        for child in chosen:
            self._require(child)
            if guarded:
                access.require_steps(self._request, guarded, child.owner, child.lessee)
        return document | {"judged_children": [mark_of_child(*one) for one in chosen]} if self._is_bound else document

    def _require(self, child: Child) -> None:
        if child.uuid not in self._allowed:
            for rule in self._rules:
                access.require(self._request, rule, child)
            self._allowed.add(child.uuid)

    def _chosen(self, step: Step) -> Sequence[Child]:
        if step.limit_child_node_execution is None:
            return self._seen
        named = dict.fromkeys(uuid.lower() for uuid in step.limit_child_node_execution)
        for uuid in named.keys() - self._children.keys():
            access.require_named(self._request, access.SEE_NODE, uuid)
            raise InvalidParameterValue(
                err=f"Step {step.name} is for node {uuid}, which is no child of node {self._node.uuid}."
            )
        return [self._children[uuid] for uuid in named]

    @functools.cached_property
    def _children(self) -> Mapping[str, Child]:
        rows = self._request.store.nodes.rows(Child._fields, filters={"parent_node": self._node.uuid})
        return {row[0]: Child(*row) for row in rows}

    @functools.cached_property
    def _seen(self) -> Sequence[Child]:
        every = self._children.values()
        return [one for one in every if access.allows(self._request, access.SEE_NODE, one.owner, one.lessee)]

    @functools.cached_property
    def _guarded(self) -> frozenset[str]:
        return self._request.services.policy.guarded_steps

    @functools.cached_property
    def _is_bound(self) -> bool:
        return access.acts_for_project(self._request, _ASK_ANYTHING)


def _templates(request: Request, node: NodeValues) -> dict[str, Any]:
    """Judge the steps of the deploy templates that the instance's traits name, where any step has a rule."""
    if not request.services.policy.guarded_steps:
        return {}
    (text,) = request.store.nodes.row(("instance_info",), node.uuid)
    traits = orjson.loads(text or "{}").get("traits")
    if is_list_of_traits(traits):
        for steps in request.store.deploy_templates.steps_of(traits).values():
            access.require_steps(request, user_steps.names(steps), node.owner, node.lessee)
    # Anything else chooses no template, and the conductor refuses it.
    return {"judged_instance": {"traits": traits}} if access.acts_for_project(request, _ASK_ANYTHING) else {}

"""Rights on the steps that a provision request runs, wherever they come from.

The steps of the request are checked before anything else, those of a runbook where it is found; this module checks the
deploy templates that the traits of the instance select, and the child nodes on which steps run. The result travels with
the request, so that the conductor runs exactly the steps that were checked. Source:
doc/contract/policies.md#steps-and-child-nodes.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from ironic.api import access
from ironic.api.request import Request
from ironic.api.resources.nodes.provision_request import DEPLOYING
from ironic.core.errors import InvalidParameterValue
from ironic.core.flows.flow import FLOWS
from ironic.core.flows.steps import Step, mark_of_child
from ironic.core.node_rules import NodeValues
from ironic.core.values import user_steps
from ironic.core.values.traits import is_list_of_traits

_PROVISION: Final = "baremetal:node:set_provision_state"
LISTS: Final = tuple(f"{flow.name}_steps" for flow in FLOWS if flow.list_verbs)
# Lists that a rule of their own guards.
_GUARDED: Final = ("clean_steps", "service_steps")
# The checked children are stored with each step, so many steps for many children need much space.
_MOST_CHECKED: Final = 10_000


class Child(NamedTuple):
    """The columns of a child node that rules compare with."""

    uuid: str
    owner: str | None
    lessee: str | None


def rules_of_lists(given: Mapping[str, object]) -> list[str]:
    """Return the rules for the lists of steps that came with a request."""
    return [f"{_PROVISION}:{name}" for name in _GUARDED if name in given]


def authorize(request: Request, node: NodeValues, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the nodes and traits that were checked; raises 403 or 404 for a denied step."""
    if request.services.policy.is_open:
        return arguments
    children = _Children(request, node, [_PROVISION, *rules_of_lists(arguments)])
    lists = {name: list(map(children.authorize, arguments[name])) for name in LISTS if name in arguments}
    return arguments | lists | (_templates(request, node) if verb in DEPLOYING else {})


class _Children:
    """The child nodes of a node, read when the first step is for them, and checked once for all steps."""

    def __init__(self, request: Request, node: NodeValues, rules: Sequence[str]) -> None:
        self._request, self._node, self._rules = request, node, rules
        self._allowed: set[str] = set()
        self._left = _MOST_CHECKED

    def authorize(self, document: dict[str, Any]) -> dict[str, Any]:
        """Check a step on each child that it is for; without a list these are the children that the caller may see."""
        step = Step.parse(document)
        if not step.is_for_children:
            return document
        chosen: Sequence[Child]
        if step.limit_child_node_execution is None:
            chosen = self._visible
        else:
            named = dict.fromkeys(uuid.lower() for uuid in step.limit_child_node_execution)
            for uuid in named.keys() - self._children.keys():
                access.require_named(self._request, access.SEE_NODE, uuid)
                raise InvalidParameterValue(
                    err=f"Step {step.name} is for node {uuid}, which is no child of node {self._node.uuid}."
                )
            chosen = [self._children[uuid] for uuid in named]
        self._left -= len(chosen)
        if self._left < 0:
            raise InvalidParameterValue(
                err=f"The steps of one request may run on child nodes at most {_MOST_CHECKED} times in all."
            )
        guarded = self._guarded_steps.intersection(user_steps.names([document]))
        for child in chosen:
            if child.uuid not in self._allowed:
                for rule in self._rules:
                    access.require(self._request, rule, child, child.uuid)
                self._allowed.add(child.uuid)
            if guarded:
                access.require_steps(self._request, guarded, child.owner, child.lessee)
        if not self._is_for_project:
            return document
        return document | {"judged_children": [mark_of_child(*one) for one in chosen]}

    @functools.cached_property
    def _children(self) -> Mapping[str, Child]:
        rows = self._request.store.nodes.rows(Child._fields, filters={"parent_node": self._node.uuid})
        return {row[0]: Child(*row) for row in rows}

    @functools.cached_property
    def _visible(self) -> Sequence[Child]:
        every = self._children.values()
        return [one for one in every if access.allows(self._request, access.SEE_NODE, one.owner, one.lessee)]

    @functools.cached_property
    def _guarded_steps(self) -> frozenset[str]:
        return self._request.rights.guarded_steps

    @functools.cached_property
    def _is_for_project(self) -> bool:
        return access.acts_for_project(self._request, _PROVISION)


def _templates(request: Request, node: NodeValues) -> dict[str, Any]:
    """Check the steps of the deploy templates that the traits of the instance select, if any step has a rule."""
    if not request.rights.guarded_steps:
        return {}
    (text,) = request.store.nodes.row(("instance_info",), node.uuid)
    traits = orjson.loads(text or "{}").get("traits")
    if is_list_of_traits(traits):
        for steps in request.store.deploy_templates.steps_of(traits).values():
            access.require_steps(request, user_steps.names(steps), node.owner, node.lessee)
    # Any other value selects no template, and the conductor refuses it.
    return {"judged_instance": {"traits": traits}} if access.acts_for_project(request, _PROVISION) else {}

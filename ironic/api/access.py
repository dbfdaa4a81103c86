"""What a caller may reach, asked before a handler runs and inside some of them.

In noauth mode nothing is asked and nothing is looked up. Otherwise a rule about one node is judged with that node's
owner and lessee: a node the caller may not see is a 404 as if it weren't there, a denied action on a visible one a 403.
Lists fall back to the caller's own project where its nodes can be told apart.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from ironic.api.policy import OF_STEP
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import HTTPForbidden, IronicError, NodeNotFound
from ironic.core.resource_errors import (
    AllocationNotFound,
    PortgroupNotFound,
    PortNotFound,
    RunbookNotFound,
    VolumeConnectorNotFound,
    VolumeTargetNotFound,
)
from ironic.core.secrets import REPLACEMENT

SEE_NODE: Final = "baremetal:node:get"
SEE_EVERY_FIELD: Final = "baremetal:node:get:filter_threshold"
LIST_NODES: Final = "baremetal:node:list"
LIST_PORTS: Final = "baremetal:port:list"
LIST_PORTGROUPS: Final = "baremetal:portgroup:list"
LIST_VOLUMES: Final = "baremetal:volume:list"
LIST_ALLOCATIONS: Final = "baremetal:allocation:list"
LIST_RUNBOOKS: Final = "baremetal:runbook:list"

# Lists that are cut down to one project where a caller may not see all.
_OF_PROJECT: Final = frozenset({LIST_NODES, LIST_PORTS, LIST_PORTGROUPS, LIST_VOLUMES, LIST_ALLOCATIONS, LIST_RUNBOOKS})

# A field, and the rule that hides it or a part of it, in the order in which they are to be followed.
Hidden = Sequence[tuple[str, str]]


class Owned(Protocol):
    """A node as rules look at it."""

    @property
    def uuid(self) -> str: ...
    @property
    def owner(self) -> str | None: ...
    @property
    def lessee(self) -> str | None: ...


def check(request: Request, route: Route, values: tuple[str, ...]) -> None:
    """Refuse a request whose route's rule denies it."""
    if route.rule is None or request.services.policy.is_open:
        return
    kind = _kind(route)
    if kind in _TARGETS and values:
        # A list below a thing is cut down by its handler; that the thing is there is for those who may see it.
        rule = SEE_NODE if route.rule in _OF_PROJECT else route.rule
        _check_node(request, rule, kind, values[0], *_TARGETS[kind](request, values[0]))
    elif kind in _OWNERS and values:
        require_own(request, route.rule, kind, values[0], *_OWNERS[kind](request, values[0]))
    elif route.rule in _OF_PROJECT:
        own_project(request, route.rule)
    else:
        # A list that can't be cut down to one project needs the right to all of it.
        require_right(request, f"{route.rule}_all" if route.rule.endswith(":list") else route.rule)


def _kind(route: Route) -> str:
    return route.path.partition("{")[2].partition("}")[0]


def _node(request: Request, ident: str) -> tuple[str | None, str | None]:
    owner, lessee = request.store.nodes.row(("owner", "lessee"), ident)
    return owner, lessee


def _node_of_port(request: Request, ident: str) -> tuple[str | None, str | None]:
    (node,) = request.store.ports.row(("node_uuid",), ident)
    return _node(request, node)


def _node_of_portgroup(request: Request, ident: str) -> tuple[str | None, str | None]:
    (node,) = request.store.portgroups.row(("node_uuid",), ident)
    return _node(request, node)


def _node_of_connector(request: Request, ident: str) -> tuple[str | None, str | None]:
    (node,) = request.store.volume_connectors.row(("node_uuid",), ident)
    return _node(request, node)


def _node_of_target(request: Request, ident: str) -> tuple[str | None, str | None]:
    (node,) = request.store.volume_targets.row(("node_uuid",), ident)
    return _node(request, node)


_TARGETS: Final[Mapping[str, Callable[[Request, str], tuple[str | None, str | None]]]] = {
    "node": _node,
    "port": _node_of_port,
    "portgroup": _node_of_portgroup,
    "connector": _node_of_connector,
    "target": _node_of_target,
}


def _allocation(request: Request, ident: str) -> tuple[str | None, bool]:
    (owner,) = request.store.allocations.row(("owner",), ident)
    return owner, False


def _runbook(request: Request, ident: str) -> tuple[str | None, bool]:
    owner, public = request.store.runbooks.row(("owner", "public"), ident)
    return owner, bool(public)


# Things that have an owner themselves, and may be everybody's.
_OWNERS: Final[Mapping[str, Callable[[Request, str], tuple[str | None, bool]]]] = {
    "allocation": _allocation,
    "runbook": _runbook,
}
_MISSING: Final[Mapping[str, Callable[[str], IronicError]]] = {
    "node": lambda ident: NodeNotFound(node=ident),
    "port": lambda ident: PortNotFound(port=ident),
    "portgroup": lambda ident: PortgroupNotFound(portgroup=ident),
    "connector": lambda ident: VolumeConnectorNotFound(connector=ident),
    "target": lambda ident: VolumeTargetNotFound(target=ident),
    "allocation": lambda ident: AllocationNotFound(allocation=ident),
    "runbook": lambda ident: RunbookNotFound(runbook=ident),
}
_OF_EVERYBODY: Final = frozenset({"baremetal:runbook:get", "baremetal:runbook:use"})


def require_own(request: Request, rule: str, kind: str, ident: str, owner: str | None, is_public: bool = False) -> None:
    """Refuse what the caller may not do with a thing that has an owner itself: a 404 where not even seeing it."""
    policy = request.services.policy
    target = {f"{kind}.owner": owner}
    if policy.is_open or (is_public and rule in _OF_EVERYBODY) or policy.allows(request.context, rule, target):
        return
    if not is_public and not policy.allows(request.context, f"baremetal:{kind}:get", target):
        raise _MISSING[kind](ident)
    raise HTTPForbidden(resource=rule)


def _check_node(request: Request, rule: str, kind: str, ident: str, owner: str | None, lessee: str | None) -> None:
    if allows(request, rule, owner, lessee):
        return
    if not allows(request, SEE_NODE, owner, lessee):
        raise _MISSING[kind](ident)
    raise HTTPForbidden(resource=rule)


def require(request: Request, rule: str, node: Owned, ident: str | None = None) -> None:
    """Refuse what the caller may not do with a node; ``ident`` is what the caller called it, if not by its UUID."""
    if not request.services.policy.is_open:
        _check_node(request, rule, "node", ident or node.uuid, node.owner, node.lessee)


def require_seen(request: Request, ident: str, owner: str | None, lessee: str | None) -> None:
    """Refuse to tell of a node that the caller may not see."""
    if not request.services.policy.is_open:
        _check_node(request, SEE_NODE, "node", ident, owner, lessee)


def require_named(request: Request, rule: str, node: str) -> None:
    """Refuse what the caller may not do with a node that no path names."""
    if not request.services.policy.is_open:
        _check_node(request, rule, "node", node, *_node(request, node))


def require_right(request: Request, rule: str, owner: str | None = None, lessee: str | None = None) -> None:
    """Refuse what is judged without a node that is there: by the caller alone, or by whose a new one will be."""
    if not allows(request, rule, owner, lessee):
        raise HTTPForbidden(resource=rule)


def require_steps(request: Request, names: Iterable[str], owner: str | None, lessee: str | None) -> None:
    """Refuse steps for which an operator has made a rule of their own that keeps the caller out."""
    target: dict[str, Any] = {"node.owner": owner, "node.lessee": lessee}
    for rule in (f"{OF_STEP}{name}" for name in sorted(request.services.policy.guarded_steps.intersection(names))):
        if request.services.policy.denies(request.context, rule, target):
            raise HTTPForbidden(resource=rule)


def allows(request: Request, rule: str, owner: str | None = None, lessee: str | None = None) -> bool:
    """Tell whether a rule lets the caller through."""
    target: dict[str, Any] = {"node.owner": owner, "node.lessee": lessee}
    return request.services.policy.allows(request.context, rule, target)


def unmasked(request: Request, rules: Iterable[str]) -> frozenset[str]:
    """Return which of these rules lift a mask for the caller; they don't look at the node."""
    return frozenset(rule for rule in rules if allows(request, rule))


def hidden_fields(
    request: Request, rules: Mapping[str, Sequence[str]]
) -> "Callable[[str | None, str | None], Hidden] | None":
    """Return what tells, by a node's owner and lessee, which rules hide which of its fields; None: all are seen.

    ``rules`` are by field. Nodes of one page mostly have the same owner and lessee, so few decisions serve all of them.
    """
    if allows(request, SEE_EVERY_FIELD):
        return None

    @functools.cache
    def hidden(owner: str | None, lessee: str | None) -> Hidden:
        wanted = dict.fromkeys(rule for several in rules.values() for rule in several)
        refused = {rule for rule in wanted if not allows(request, rule, owner, lessee)}
        return [(name, rule) for name, several in rules.items() for rule in several if rule in refused]

    return hidden


def without_host(request: Request, error: Exception, text: str) -> str:
    """Return the text of an error without the conductor's name where the caller may not see who holds a node."""
    host = error.facts.get("host") if isinstance(error, IronicError) else None
    if not host or not request.is_judged or allows(request, SEE_EVERY_FIELD):
        return text
    return text.replace(f" {host}", f" {REPLACEMENT}")


def sees_all_nodes(request: Request) -> bool:
    """Tell whether no node is hidden from the caller, whoever owns it."""
    return request.services.policy.is_open or allows(request, SEE_NODE)


def sees(request: Request, owner: str | None, lessee: str | None) -> bool:
    """Tell whether the caller may know of a node with this owner and lessee."""
    return request.services.policy.is_open or allows(request, SEE_NODE, owner, lessee)


def require_all_seen(request: Request, rules: Iterable[str]) -> None:
    """Refuse what would tell of a field of any node, for callers from whom one of these rules hides it on some."""
    if not request.is_judged or allows(request, SEE_EVERY_FIELD):
        return
    for rule in rules:
        if not allows(request, rule):
            raise HTTPForbidden(resource=rule)


def is_site_operator(request: Request) -> bool:
    """Tell whether the caller stands above all projects: with system scope, or where nobody has to say who they are."""
    return request.services.policy.is_open or request.context.system_scope is not None


def acts_for_project(request: Request, rule: str) -> bool:
    """Tell whether a right, if the caller has it, comes from a project's nodes alone.

    Who sees nodes of no project, and may do the same to them, stands above the projects: system scope, services, the
    rules of old.
    """
    return not request.services.policy.is_open and not (allows(request, rule) and allows(request, SEE_NODE))


def own_project(request: Request, rule: str = LIST_NODES) -> str | None:
    """Return the project whose nodes, or other things, the caller may list; None: all."""
    if request.services.policy.is_open or allows(request, f"{rule}_all"):
        return None
    if request.context.project_id is None or not allows(request, rule):
        raise HTTPForbidden(resource=rule)
    return request.context.project_id

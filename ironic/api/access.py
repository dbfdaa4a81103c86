"""Access checks: whether the caller may make a request, which nodes the caller sees, and which fields are hidden.

A policy (`ironic.api.policy`) decides. Where it is open, everything is allowed and nothing is looked up.

A rule about one node is evaluated with the owner and the lessee of that node. A node that the caller may not see
answers 404, as if it did not exist, and after as much work; an action that is denied on a visible node answers 403. A
list that the caller may not read as a whole is narrowed to the caller's own project, where its rows belong to nodes
with an owner.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from ironic.api.policy_files import STEP_RULE_PREFIX
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import HTTPForbidden, IronicError, NodeNotFound, NotAuthorized, TemporaryFailure
from ironic.core.model.fields import RESOURCES, Belongs, Resource
from ironic.core.model.node import Node
from ironic.core.secrets import secret_updates
from ironic.core.secrets.masking import REPLACEMENT
from ironic.core.texts import syntax

if TYPE_CHECKING:
    pass


SEE_NODE: Final = "baremetal:node:get"
SEE_EVERY_FIELD: Final = "baremetal:node:get:filter_threshold"
SEE_DRIVER_INFO: Final = "baremetal:node:get:driver_info"
LIST_NODES: Final = "baremetal:node:list"
LIST_PORTS: Final = "baremetal:port:list"
LIST_PORTGROUPS: Final = "baremetal:portgroup:list"
LIST_VOLUMES: Final = "baremetal:volume:list"
LIST_ALLOCATIONS: Final = "baremetal:allocation:list"
LIST_RUNBOOKS: Final = "baremetal:runbook:list"

# Lists that are narrowed to the caller's project when the caller may not read all of them, as are those of resources
# with an owner of their own.
_NARROWED: Final = frozenset({LIST_NODES, LIST_PORTS, LIST_PORTGROUPS, LIST_VOLUMES})

# Pairs of a field and the rule that hides it, or a part of it, in the order in which they are applied.
Hidden = Sequence[tuple[str, str]]


class Owned(Protocol):
    """The columns of a node that rules compare with."""

    @property
    def uuid(self) -> str: ...
    @property
    def owner(self) -> str | None: ...
    @property
    def lessee(self) -> str | None: ...


# The version since which nodes are named by their names, too.
NAMES_SINCE: Final = 5
# No row has it, so that a look-up finds nothing.
_NO_UUID: Final = "00000000-0000-0000-0000-000000000000"
# What a caller of any project may do with what is public.
_WITH_PUBLIC: Final = frozenset({"get", "use"})


def check(request: Request, route: Route, values: tuple[str, ...]) -> None:
    """Raise 403 or 404 when the rule of the route denies the request; ``values`` are the identifiers in the path."""
    if route.public or request.services.policy.is_open:
        return
    if request.context.domain_id is not None:
        # No rule is for such tokens; before anything is looked up, so that the answer shows nothing.
        raise NotAuthorized("A token for a domain allows nothing here. Use one for a project or for the system.")
    if route.rule is None:
        return
    resource = RESOURCES.get(route.subject)
    belongs = resource.belongs if values and resource is not None else None
    if resource is not None and belongs is Belongs.TO_NODE:
        # The handler narrows a list below a node; whether the node exists is only for callers who may see it.
        rule = SEE_NODE if _is_narrowed(route.rule) else route.rule
        with as_if_foreign(request, rule, of_part=resource is not Node):
            owner, lessee = _owner_and_lessee(request, _node_of(request, resource, values[0]))
        _check_node(request, rule, resource, values[0], owner, lessee)
    elif resource is not None and belongs is Belongs.TO_OWNER:
        public = (resource.public_by,) if resource.public_by else ()
        with as_if_foreign(request, route.rule, see=_rule_to_see(resource)):
            owner, *is_public = request.store.named(resource.stored_in).row(("owner", *public), values[0])
        require_own(request, route.rule, resource, values[0], owner, any(is_public))
    elif _is_narrowed(route.rule):
        own_project(request, route.rule)
    else:
        # A list that can't be narrowed to a project needs the right to all of it.
        require_right(request, f"{route.rule}_all" if route.rule.endswith(":list") else route.rule)


@contextlib.contextmanager
def as_if_foreign(request: Request, *rules: str, see: str = SEE_NODE, of_part: bool = False) -> Iterator[None]:
    """Do for what a block does not find what is done for something that the caller may not see.

    Otherwise the time of the answer shows that it exists. ``rules`` are those that are asked before ``see``. With
    ``of_part`` owner and lessee are read in a statement of their own, after the one that has found nothing.
    """
    try:
        yield
    except tuple(resource.not_found for resource in RESOURCES.values() if resource.belongs is not None):
        if not request.services.policy.is_open:
            if of_part:
                with contextlib.suppress(NodeNotFound):
                    _owner_and_lessee(request, _NO_UUID)
            owned = (one.word for one in RESOURCES.values() if one.belongs is Belongs.TO_OWNER)
            target: dict[str, Any] = dict.fromkeys(("node.owner", "node.lessee", *(f"{word}.owner" for word in owned)))
            for rule in dict.fromkeys((*rules, see)):  # each once, as of something that is there
                request.rights.allows(rule, target)
        raise


def _owner_and_lessee(request: Request, node: str) -> tuple[str | None, str | None]:
    owner, lessee = request.store.nodes.row(("owner", "lessee"), node)
    return owner, lessee


def _is_narrowed(rule: str) -> bool:
    owned = (resource.word for resource in RESOURCES.values() if resource.belongs is Belongs.TO_OWNER)
    return rule in _NARROWED or any(rule == f"baremetal:{word}:list" for word in owned)


def _node_of(request: Request, resource: type[Resource], ident: str) -> str:
    """Return the identifier of the node that something belongs to, or is."""
    if resource is Node:
        return ident
    (node,) = request.store.named(resource.stored_in).row(("node_uuid",), ident)
    return str(node)


def _rule_to_see(resource: type[Resource]) -> str:
    return f"baremetal:{resource.word}:get"


def require_own(
    request: Request, rule: str, resource: type[Resource], ident: str, owner: str | None, is_public: bool = False
) -> None:
    """Raise 403 for a denied action on what has an owner of its own, 404 when the caller may not even see it."""
    target = {f"{resource.word}.owner": owner}
    is_free = is_public and rule.rpartition(":")[2] in _WITH_PUBLIC
    if request.services.policy.is_open or is_free or request.rights.allows(rule, target):
        return
    if not is_public and not request.rights.allows(_rule_to_see(resource), target):
        raise resource.not_found(**{resource.word: ident})
    raise HTTPForbidden(resource=rule)


def _check_node(
    request: Request, rule: str, resource: type[Resource], ident: str, owner: str | None, lessee: str | None
) -> None:
    if allows(request, rule, owner, lessee):
        return
    if not allows(request, SEE_NODE, owner, lessee):
        raise resource.not_found(**{resource.word: ident})
    raise HTTPForbidden(resource=rule)


def require(request: Request, rule: str, node: Owned, ident: str) -> None:
    """Raise 403 or 404 when a rule denies the caller the action on a node; ``ident`` is how the caller named it."""
    if not request.services.policy.is_open:
        _check_node(request, rule, Node, ident, node.owner, node.lessee)


def require_seen(request: Request, ident: str, owner: str | None, lessee: str | None) -> None:
    """Raise NodeNotFound when the caller may not see the node with this owner and lessee."""
    if not request.services.policy.is_open:
        _check_node(request, SEE_NODE, Node, ident, owner, lessee)


def require_named(request: Request, rule: str, node: str) -> None:
    """Raise 403 or 404 when a rule denies the action on a node that the query or a body names."""
    if not request.services.policy.is_open:
        with as_if_foreign(request, rule):
            owner, lessee = _owner_and_lessee(request, node)
        _check_node(request, rule, Node, node, owner, lessee)


def require_right(request: Request, rule: str, owner: str | None = None, lessee: str | None = None) -> None:
    """Raise 403 when a rule denies the caller; ``owner`` and ``lessee`` are those of a node that is to be created."""
    if not allows(request, rule, owner, lessee):
        raise HTTPForbidden(resource=rule)


def require_steps(request: Request, names: Iterable[str], owner: str | None, lessee: str | None) -> None:
    """Raise 403 for a step that a rule of the operator's policy file denies the caller on a node."""
    target: dict[str, Any] = {"node.owner": owner, "node.lessee": lessee}
    for rule in (f"{STEP_RULE_PREFIX}{name}" for name in sorted(request.rights.guarded_steps.intersection(names))):
        if request.rights.denies(rule, target):
            raise HTTPForbidden(resource=rule)


def allows(request: Request, rule: str, owner: str | None = None, lessee: str | None = None) -> bool:
    """Return whether a rule allows the caller, on a node with this owner and lessee if any."""
    return request.rights.allows(rule, {"node.owner": owner, "node.lessee": lessee})


def unmasked(request: Request, rules: Iterable[str]) -> frozenset[str]:
    """Return which of these rules, which do not depend on a node, unmask secrets for the caller."""
    return frozenset(rule for rule in rules if allows(request, rule))


def hidden_fields(
    request: Request, rules: Mapping[str, Sequence[str]]
) -> "Callable[[str | None, str | None], Hidden] | None":
    """Return a function from a node's owner and lessee to the fields that are hidden; None: the caller sees all fields.

    ``rules`` are by field. Decisions are cached, as the nodes of one page mostly have the same owner and lessee.
    """
    if allows(request, SEE_EVERY_FIELD):
        return None

    @functools.cache
    def hidden(owner: str | None, lessee: str | None) -> Hidden:
        wanted = dict.fromkeys(rule for several in rules.values() for rule in several)
        target = {"node.owner": owner, "node.lessee": lessee}
        refused = {rule for rule in wanted if not request.rights.allows(rule, target)}
        return [(name, rule) for name, several in rules.items() for rule in several if rule in refused]

    return hidden


def shown_error(request: Request, error: Exception, text: str) -> str:
    """Return an error text with what the caller may not see of a node masked: its conductor, addresses of its BMC.

    Where names are no identifiers yet, it says so, whether the node exists or not.
    """
    if isinstance(error, NodeNotFound) and request.minor < NAMES_SINCE and not syntax.is_uuid(error.facts.get("node")):
        return f"{text} Names need API version 1.{NAMES_SINCE} or later; this request asked for 1.{request.minor}."
    if not isinstance(error, IronicError) or not request.is_judged or allows(request, SEE_EVERY_FIELD):
        return text
    if host := error.facts.get("host"):
        text = text.replace(f" {host}", f" {REPLACEMENT}")
    if request.node is not None and not isinstance(error, TemporaryFailure):
        with contextlib.suppress(NodeNotFound):
            text = without_addresses(request, request.node)(text)
    return text


def without_addresses(request: Request, node: str) -> Callable[[str], str]:
    """Return the function that masks, in a driver's text about a node, addresses that the caller may not see."""
    hidden: Sequence[str] = ()
    if request.is_judged and not allows(request, SEE_EVERY_FIELD):
        owner, lessee, *infos = request.store.nodes.row(
            ("owner", "lessee", "driver_info", "driver_internal_info"), node
        )
        if not allows(request, SEE_DRIVER_INFO, owner, lessee):
            hidden = secret_updates.addresses([orjson.loads(info or "{}") for info in infos])
    return lambda text: functools.reduce(lambda left, one: left.replace(one, REPLACEMENT), hidden, text)


def sees_all_nodes(request: Request) -> bool:
    """Return whether the caller sees the nodes of every owner."""
    return request.services.policy.is_open or allows(request, SEE_NODE)


def sees(request: Request, owner: str | None, lessee: str | None) -> bool:
    """Return whether the caller may see a node with this owner and lessee."""
    return request.services.policy.is_open or allows(request, SEE_NODE, owner, lessee)


def require_all_seen(request: Request, rules: Iterable[str]) -> None:
    """Raise 403 for a sort key whose order would reveal a field that one of these rules hides on some nodes."""
    if not request.is_judged or allows(request, SEE_EVERY_FIELD):
        return
    for rule in rules:
        if not allows(request, rule):
            raise HTTPForbidden(resource=rule)


def is_site_operator(request: Request) -> bool:
    """Return whether the caller has system scope, or the service runs without authorization."""
    return request.services.policy.is_open or request.context.system_scope is not None


def acts_for_project(request: Request, rule: str) -> bool:
    """Return whether the caller's right, if any, comes only from the project that owns or leases a node.

    A caller who sees nodes without an owner, and has the right on them too, is no project caller: system scope,
    services, deprecated rules.
    """
    return not request.services.policy.is_open and not (allows(request, rule) and allows(request, SEE_NODE))


def own_project(request: Request, rule: str = LIST_NODES) -> str | None:
    """Return the project to which a list is narrowed, None for a caller who may read all of it; raises 403."""
    if request.services.policy.is_open or allows(request, f"{rule}_all"):
        return None
    if request.context.project_id is None or not allows(request, rule):
        raise HTTPForbidden(resource=rule)
    return request.context.project_id

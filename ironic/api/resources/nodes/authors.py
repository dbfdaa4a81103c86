"""The callers of POST and PATCH as authors of nodes: each answers by the rules of the policy.

Source: doc/contract/requests.md#rights-of-a-patch-of-a-node.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.api import access, json_patch, named_nodes, row_rooms, step_lists
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.node import Node
from ironic.core.secrets.secret_updates import DRIVER, Written
from ironic.services.node_authors import Author
from ironic.services.row_limits import Room

CREATE_OWN: Final = "baremetal:node:create:self_owned_node"
_UPDATE_PARENT: Final = "baremetal:node:update:parent_node"


def rule_of(name: str, value: object = None) -> str:
    """Return the rule that guards setting a field to a value; for no field, that of a patch which changes nothing."""
    one = Node.table.fields.get(name)
    return (one and one.right_to_set(value)) or "baremetal:node:update"


def project_bound(request: Request) -> str | None:
    """Return the project whose number of nodes has a limit when the caller enrolls one; None for other callers."""
    project = request.context.project_id if request.settings.project_admin_can_manage_own_nodes else None
    return project if project is not None and access.allows(request, CREATE_OWN) else None


class Caller(Author):
    """The caller of a PATCH."""

    def __init__(self, request: Request, changes: Sequence[Change] = ()) -> None:
        super().__init__(request.store, request.hash_ring)
        self._request, self._written = request, json_patch.written(changes)
        self.context = request.context
        self.kernel_parameters = request.settings.ramdisk.project_kernel_parameters
        # Without rights there are no projects, but machines may have reported an address.
        self.notes_choices = not request.services.policy.is_open

    def is_bound(self, field: str) -> bool:
        """Return whether the right to write a field comes only from the project of the node."""
        return access.acts_for_project(self._request, rule_of(field))

    def written(self, field: str) -> Written:
        """Return what the patch writes into a field."""
        return self._written[field]

    def check_rights(
        self, before: Mapping[str, Any], values: Mapping[str, Any], owner: str | None, lessee: str | None
    ) -> None:
        """Raise an error when a project names a runbook in driver_info that it may not use on the node."""
        if DRIVER in values:
            step_lists.check_named_in(self._request, before.get(DRIVER, {}), values[DRIVER], owner, lessee)

    def seen_node(self, ident: str, missing: str) -> tuple[str, str | None, str | None]:
        """Return UUID, owner and lessee of a node; a hidden one is missing."""
        found = named_nodes.seen_holder(self._request, ident, missing)
        return found.uuid, found.owner, found.lessee

    def may_give_children(self, owner: str | None, lessee: str | None) -> bool:
        """Return whether the caller may change the parent of nodes with this owner and lessee."""
        return access.allows(self._request, _UPDATE_PARENT, owner, lessee)

    def room(self, owner: str | None) -> Room | None:
        """Return the room of the new owner, for callers who may enroll nodes of their project only."""
        return None if project_bound(self._request) is None else row_rooms.of_project(self._request, owner, Node)


class Enroller(Caller):
    """The caller of a POST; ``project`` is the one that the node has to belong to, None for any."""

    def __init__(self, request: Request, project: str | None, given: Mapping[str, Any]) -> None:
        super().__init__(request)
        self._project, self._given = project, given

    def is_bound(self, field: str) -> bool:
        """Return whether the caller enrolls a node of its project."""
        return self._project is not None

    def written(self, field: str) -> Written:
        """Return the value of a field as a whole."""
        return [((), self._given[field])] if field in self._given else []

    def check_rights(
        self, before: Mapping[str, Any], values: Mapping[str, Any], owner: str | None, lessee: str | None
    ) -> None:
        """Raise 403 for a value in a new node that the caller could not set afterwards; defaults need no right."""
        if node_rules.named_boot_modes(values) & self._request.settings.disallowed_boot_modes:
            raise InvalidParameterValue(err="New nodes with this boot_mode are not allowed here.")
        for rule in _rules_of_new(self._request, values):
            access.require_right(self._request, rule, owner, lessee)
        super().check_rights(before, values, owner, lessee)

    def room(self, owner: str | None) -> Room | None:
        """Return the room of the caller's project."""
        return row_rooms.of_project(self._request, self._project, Node)


def _rules_of_new(request: Request, values: Mapping[str, Any]) -> list[str]:
    if request.services.policy.is_open:
        return []
    # What no patch sets has a right if a route of its own does.
    settable = {name: one for name, one in Node.writable("create").items() if one.right is not None}
    known = Node.writable("patch") | settable
    default = {name: one.empty for name, one in known.items()}
    default["conductor_group"] = request.settings.default_conductor_group
    given = {name: value for name, value in values.items() if name in known and not known[name].free_on_create}
    return list(dict.fromkeys(rule_of(name, value) for name, value in given.items() if value != default[name]))

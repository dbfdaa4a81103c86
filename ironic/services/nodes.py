"""Create and change nodes: new values are judged, completed and set here, from whomever they come.

The author of a change (`services.node_authors`) is a caller of the API, inspection rules of either dialect, or
discovery. For all of them this module decides what may be written, where secrets may go, who has chosen the BMC's host,
what the state of the node allows, and what follows: interfaces, parent, allocation, reasons.
"""

from collections.abc import Collection, Mapping
from typing import Any, Literal

from ironic.core import node_rules
from ironic.core.addresses import bmc_hosts
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.resource_errors import ChassisNotFound
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.core.model.node import INTERFACES
from ironic.core.projects import project_writes
from ironic.core.projects.project_writes import DOCUMENTS
from ironic.core.secrets.secret_updates import DRIVER, INSTANCE
from ironic.db import NodeRecord
from ironic.services import allocation_binding, node_changes, node_parents
from ironic.services.maintenance_history import Maintenance, note_change
from ironic.services.node_authors import Author
from ironic.services.row_limits import check_room

# Which interfaces another driver keeps that the change does not name; the others get its defaults.
Kept = Literal["all", "supported", "none"]


def change(
    node: NodeRecord, values: Mapping[str, Any], author: Author, *, named: Collection[str] = (), kept: Kept = "all"
) -> None:
    """Check new values of a node and set them with what follows from them; the caller saves the node.

    ``values`` differ from those of the node and are valid for its fields; ``named`` are all fields that the author has
    written. Part of the transaction that has locked the node, unless the author stores it later. Raises errors of
    refusals.
    """
    wanted = dict(values)
    before = {name: getattr(node, name) or {} for name in DOCUMENTS} if not wanted.keys().isdisjoint(DOCUMENTS) else {}
    _check_documents(before, wanted, author)
    author.check_rights(before, wanted, node.owner, node.lessee)
    if DRIVER in named:
        wanted |= _choice(node.driver_internal_info or {}, node.driver_info or {}, wanted, author)
    node_rules.check_changes(node, wanted, author.state)
    node_rules.check_values(wanted)
    wanted |= node_rules.implied_values(wanted, node.instance_name)
    _check_instance(_now(node, wanted, "driver"), _now(node, wanted, "conductor_group"), before, wanted, author)
    wanted |= _interfaces(node, wanted, author, named, kept)
    _follow(node, wanted, author)
    maintenance = Maintenance.of(node)
    for name, value in _columns(wanted, author, node.uuid, _now(node, wanted, "owner")).items():
        setattr(node, name, value)
    if author.context is not None:
        note_change(author.store, author.context, node, maintenance)


def completed(values: Mapping[str, Any], author: Author) -> dict[str, Any]:
    """Return the values of a new node, its state among them, with what follows; raises errors of refusals."""
    wanted = dict(values)
    driver, group = wanted["driver"], wanted["conductor_group"]
    _check_documents(dict.fromkeys(DOCUMENTS, {}), wanted, author)
    node_rules.check_values(wanted)
    author.check_rights({}, wanted, wanted.get("owner"), wanted.get("lessee"))
    node_changes.check_served(author.hash_ring, wanted.get("uuid") or "", driver, group)
    wanted |= node_changes.chosen_interfaces(author.hash_ring, driver, group, wanted)
    node_rules.check_new(wanted)
    wanted |= node_rules.implied_values(wanted)
    _check_instance(driver, group, {}, wanted, author)
    if wanted.get(DRIVER):
        wanted |= _choice({}, {}, wanted, author)
    return wanted


def enroll(values: Mapping[str, Any], author: Author) -> NodeRecord:
    """Create a node with `completed` values in one transaction; raises RowLimit, or errors of what they refer to."""

    def create() -> NodeRecord:
        check_room(author.store.nodes, author.room(values.get("owner")))
        return author.store.nodes.create(_columns(values, author, str(values.get("uuid")), values.get("owner")))

    return author.store.run(lambda _: create())


def _now(node: NodeRecord, values: Mapping[str, Any], name: str) -> Any:
    """Return a value as it will be."""
    return values.get(name, getattr(node, name))


def _check_documents(before: Mapping[str, Any], values: Mapping[str, Any], author: Author) -> None:
    if bound := [name for name in DOCUMENTS if name in values and author.is_bound(name)]:
        present = {name: values[name] or {} for name in DOCUMENTS if name in values}
        project_writes.check(before, present, bound, author.written, author.kernel_parameters)


def _choice(
    internal: Mapping[str, Any], before: Mapping[str, Any], values: Mapping[str, Any], author: Author
) -> dict[str, Any]:
    """Return driver_internal_info if a change of driver_info changes who has chosen the host of the BMC."""
    if not author.notes_choices and not bmc_hosts.BY_PROJECT.read(internal) and not bmc_hosts.UNKNOWN.read(internal):
        return {}
    noted = bmc_hosts.with_chooser(
        internal,
        before,
        values.get(DRIVER, before) or {},
        author.written(DRIVER),
        by_project=author.is_bound(DRIVER),
        of_report=author.reports,
    )
    return {} if noted == internal else {"driver_internal_info": noted}


def _check_instance(
    driver: str, group: str, before: Mapping[str, Any], values: Mapping[str, Any], author: Author
) -> None:
    """Refuse an interface for the instance that the node can't have: its power and its removal would fail."""
    if INSTANCE in values:
        asked = node_rules.interfaces_of_instance(before.get(INSTANCE, {}), values[INSTANCE] or {})
        kinds = [kind for kind in KINDS if interface_field(kind) in asked]
        node_changes.chosen_interfaces(author.hash_ring, driver, group, asked, kinds)


def _interfaces(
    node: NodeRecord, values: Mapping[str, Any], author: Author, named: Collection[str], kept: Kept
) -> dict[str, str | None]:
    """Return the interfaces that a change of driver, group or interfaces leads to, checked as a whole (S24)."""
    if values.keys().isdisjoint(INTERFACES | {"driver", "conductor_group"}):
        return {}
    driver, group = _now(node, values, "driver"), _now(node, values, "conductor_group")
    node_changes.check_served(author.hash_ring, node.uuid, driver, group)
    if "driver" not in values:
        # Interfaces that the change does not set may have been disabled since; that must not refuse it (S26).
        touched = [kind for kind in KINDS if interface_field(kind) in values]
        return node_changes.chosen_interfaces(author.hash_ring, driver, group, values, touched) if touched else {}
    # Those that the change names without changing them are chosen for another driver too.
    asked = {name: _now(node, values, name) for name in INTERFACES if name in named or name in values}
    present = {name: getattr(node, name) for name in INTERFACES - asked.keys()} if kept != "none" else {}
    only_supported = kept == "supported"
    chosen = node_changes.chosen_interfaces(
        author.hash_ring, driver, group, asked, kept=present, only_supported=only_supported
    )
    # Another driver may replace interfaces that the change does not name.
    changed = {name: value for name, value in chosen.items() if value != getattr(node, name)}
    node_rules.check_changes(node, changed, author.state)
    return chosen


def _follow(node: NodeRecord, values: Mapping[str, Any], author: Author) -> None:
    """Have the allocation and the limit of nodes follow a change of the owner or the instance."""
    allocation = node.allocation_id

    def follow() -> None:
        # A transaction may be repeated, and the last attempt has changed the node.
        node.allocation_id = allocation
        allocation_binding.follow_node_change(author.store, node, values)

    if allocation is not None and not values.keys().isdisjoint(allocation_binding.FOLLOWED):
        author.also_store(follow)
    if (owner := values.get("owner")) is not None:
        check_room(author.store.nodes, author.room(owner))


def _columns(values: Mapping[str, Any], author: Author, uuid: str, owner: str | None) -> dict[str, Any]:
    """Return values for the row of a node: the chassis as an ID, the parent as a UUID."""
    columns = dict(values)
    if "chassis_uuid" in columns:
        chassis = columns.pop("chassis_uuid")
        try:
            columns["chassis_id"] = None if chassis is None else author.store.chassis.row(("id",), chassis)[0]
        except ChassisNotFound as error:
            raise InvalidParameterValue(err=str(error)) from None
    if (ident := columns.get("parent_node")) is not None:
        columns["parent_node"] = author.store.run(lambda _: _parent(author, uuid, owner, ident))
        if author.stores_later:
            # Again with the write: other changes of parents may come between.
            author.also_store(lambda: _parent(author, uuid, owner, ident))
    return columns


def _parent(author: Author, node: str, owner: str | None, ident: str) -> str:
    """Return the UUID of a parent, which stays as it is until the open transaction ends."""
    parent, its_owner, lessee = author.seen_node(ident, "parent_node names no node.")
    # A new parent is a change of both nodes.
    if its_owner != owner or not author.may_give_children(its_owner, lessee):
        raise InvalidParameterValue(err="parent_node belongs to another owner.")
    node_parents.check_parent(author.store, node, parent)
    return parent

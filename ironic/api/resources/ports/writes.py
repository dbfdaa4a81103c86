"""Creating, changing and deleting ports.

A new port is a row and nothing more, so it is written here in one transaction. Changing and deleting may matter to the
network that a machine is in, so the conductor that serves its node does that, after all that can be judged from the
request has been: the state of the node is looked at where it can't change any more, under the conductor's lock.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.api import answers, named_nodes, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.refusing import needs_one
from ironic.api.request import Request
from ironic.api.resources.ports import references
from ironic.api.routes import Route
from ironic.core import node_rules, syntax
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.port import Port
from ironic.services import parts


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Add a port to a node."""
    referred: dict[str, str | None] = {}

    def refer() -> dict[str, Any]:
        owner = references.named_owner(request, values, "baremetal:port:create")
        group = references.group(request, values.pop("portgroup_uuid", None), owner.id)
        values.update(node_id=owner.id, portgroup_id=group and group.id)
        references.check_boots(group, values.get("pxe_enabled", True), values)
        referred.update(node_uuid=owner.uuid, portgroup_uuid=group and group.uuid)
        return values

    record = parts.add(request.store, request.store.ports, refer)
    document = projection.full(Port, request.minor).of_record(request, record, referred)
    return answers.created(document, request.url(f"/v1/ports/{record.uuid}"))


def patch(request: Request, port: str, changes: Sequence[Change]) -> Answer:
    """Change a port."""
    roots = {change.root for change in changes}
    before = patching.before(request.store.ports, Port, port, (*_ALWAYS, *sorted(roots)))
    node = named_nodes.facts(request, before["node_uuid"])
    node_rules.check_parts_editable(node, while_inspecting=request.minor < 39)
    values = patching.patched(Port, before, changes, request.minor)
    if values:
        wanted = _as_columns(request, before, values)
        named_nodes.for_part_of(request, node).update_port(request.context, before["uuid"], wanted)
    view = projection.full(Port, request.minor)
    return answers.document(view.document(request, request.store.ports.row(view.columns, before["uuid"])))


_UPDATE: Final = "baremetal:port:update"
_ALWAYS = ("uuid", "node_id", "node_uuid", "portgroup_uuid", "pxe_enabled")


def _as_columns(request: Request, before: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Put ids in place of the UUIDs that a patch names, and judge what belongs together."""
    columns = {name: value for name, value in values.items() if name not in ("node_uuid", "portgroup_uuid")}
    if "node_uuid" in values:
        columns["node_id"] = named_nodes.new_holder(request, _UPDATE, before["node_uuid"], values["node_uuid"])
    if not values.keys() & {"node_uuid", "portgroup_uuid", "pxe_enabled", "physical_network"}:
        return columns
    after = dict(before) | dict(values)
    group = references.group(request, after["portgroup_uuid"], columns.get("node_id", before["node_id"]))
    if "portgroup_uuid" in values:
        columns["portgroup_id"] = group and group.id
    references.check_boots(group, after["pxe_enabled"], columns)
    if group is not None and "physical_network" in values and request.minor >= 102:
        raise InvalidParameterValue(err=f"The physical network of a port in port group {group.uuid} is the group's.")
    return columns


def delete(request: Request, port: str) -> Answer:
    """Delete a port."""
    if not syntax.is_uuid(port):
        raise InvalidParameterValue(err="A port that is to be deleted has to be named by its UUID.")
    uuid, node_uuid = request.store.ports.row(("uuid", "node_uuid"), port)
    named_nodes.for_part_of(request, named_nodes.facts(request, node_uuid)).destroy_port(request.context, uuid)
    return NO_CONTENT


_WHOLE = needs_one("a port's UUID or name")
ROUTES = (
    Route("POST", "/v1/ports", create, judges=True, of=Create(Port)),  # judged by the node that the body names
    Route("PATCH", "/v1/ports", _WHOLE),
    Route("DELETE", "/v1/ports", _WHOLE),
    Route("POST", "/v1/ports/{port}", _WHOLE),
    Route("PATCH", "/v1/ports/{port}", patch, rule=_UPDATE, of=Patch(Port)),
    Route("DELETE", "/v1/ports/{port}", delete, rule="baremetal:port:delete", of=Delete(Port)),
)

"""Creating, changing and deleting port groups.

A new group is a row and nothing more. Changing and deleting is the work of the conductor that serves the node, as with
ports: what the ports of the group and the state of the node allow is judged under its lock.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.api import answers, named_nodes, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.refusing import needs_one
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core import node_rules
from ironic.core.model.portgroup import Portgroup
from ironic.services import parts


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Add a port group to a node."""
    values["mode"] = values.get("mode") or request.settings.default_portgroup_mode
    referred: dict[str, str] = {}

    def refer() -> dict[str, Any]:
        owner = named_nodes.holder(request, values.pop("node_uuid"), "baremetal:portgroup:create", named_nodes.NO_NODE)
        referred["node_uuid"] = owner.uuid
        return {**values, "node_id": owner.id}

    record = parts.add(request.store, request.store.portgroups, refer)
    document = projection.full(Portgroup, request.minor).of_record(request, record, referred)
    return answers.created(document, request.url(f"/v1/portgroups/{record.uuid}"))


def patch(request: Request, portgroup: str, changes: Sequence[Change]) -> Answer:
    """Change a port group."""
    roots = sorted({change.root for change in changes})
    before = patching.before(request.store.portgroups, Portgroup, portgroup, ("uuid", "node_uuid", *roots))
    node = named_nodes.facts(request, before["node_uuid"])
    node_rules.check_parts_editable(node, while_inspecting=request.minor < 39)
    values = patching.patched(Portgroup, before, changes, request.minor)
    if values:
        wanted = _as_columns(request, before, values)
        named_nodes.for_part_of(request, node).update_portgroup(request.context, before["uuid"], wanted)
    view = projection.full(Portgroup, request.minor)
    return answers.document(view.document(request, request.store.portgroups.row(view.columns, before["uuid"])))


def _as_columns(request: Request, before: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, object]:
    columns = {name: value for name, value in values.items() if name != "node_uuid"}
    if "node_uuid" in values:
        columns["node_id"] = named_nodes.new_holder(request, _UPDATE, before["node_uuid"], values["node_uuid"])
    return columns


def delete(request: Request, portgroup: str) -> Answer:
    """Delete a port group that has no ports."""
    uuid, node_uuid = request.store.portgroups.row(("uuid", "node_uuid"), portgroup)
    named_nodes.for_part_of(request, named_nodes.facts(request, node_uuid)).destroy_portgroup(request.context, uuid)
    return NO_CONTENT


_UPDATE: Final = "baremetal:portgroup:update"
_ONE: Final = "/v1/portgroups/{portgroup}"

_WHOLE = needs_one("a port group's UUID or name")
ROUTES = (
    # Judged by the node that the body names.
    Route("POST", "/v1/portgroups", create, since=23, shape=FAULT, judges=True, of=Create(Portgroup)),
    Route("PATCH", "/v1/portgroups", _WHOLE, since=23, shape=FAULT),
    Route("DELETE", "/v1/portgroups", _WHOLE, since=23, shape=FAULT),
    Route("PATCH", _ONE, patch, since=23, shape=FAULT, rule=_UPDATE, of=Patch(Portgroup)),
    Route("DELETE", _ONE, delete, since=23, shape=FAULT, rule="baremetal:portgroup:delete", of=Delete(Portgroup)),
)

"""Creating, changing and deleting volume connectors and targets.

A new one is a row and nothing more. One that exists may be in use by a running machine, so it is changed only while
nobody holds its node and the node is powered off; both are judged in the transaction that writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, answers, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.refusing import needs_one
from ironic.api.request import Request
from ironic.api.resources.nodes import references as node_references
from ironic.api.resources.nodes import writes as node_writes
from ironic.api.resources.volume.reads import CONNECTORS, TARGETS, Kind
from ironic.api.routes import Route
from ironic.core import node_rules
from ironic.core.errors import Conflict

if TYPE_CHECKING:
    from ironic.db import NodeRecord


_NO_NODE: Final = "node_uuid names no node."
_CREATE: Final = "baremetal:volume:create"


@dataclass(frozen=True, slots=True)
class Writes:
    """The handlers that write one kind."""

    kind: Kind

    def create(self, request: Request, values: dict[str, Any]) -> Answer:
        """Add one to a node."""
        with request.store.writing():
            owner = node_references.holder(request, values.pop("node_uuid"), _CREATE, _NO_NODE)
            record = self.kind.rows(request).create(values | {"node_id": owner.id})
        view = projection.full(self.kind.resource, request.minor)
        document = view.of_record(request, record, {"node_uuid": owner.uuid})
        return answers.created(document, request.url(f"/v1/volume/{self.kind.name}/{record.uuid}"))

    def patch(self, request: Request, ident: str, changes: Sequence[Change]) -> Answer:
        """Change one."""
        (node,) = self.kind.rows(request).row(("node_uuid",), ident)
        node_writes.when_free(request, node, lambda record: self._change(request, record, ident, changes))
        view = projection.full(self.kind.resource, request.minor)
        return answers.document(view.document(request, self.kind.rows(request).row(view.columns, ident)))

    def _change(self, request: Request, node: "NodeRecord", ident: str, changes: Sequence[Change]) -> None:
        node_rules.check_volume_unused(node, f"changing a {self.kind.resource.singular}", deleting=False)
        record: Any = self._still_there(request, node, ident)
        known = [name for name in self.kind.resource.writable("patch") if name != "node_uuid"]
        before = {name: getattr(record, name) for name in known} | {"node_uuid": node.uuid}
        values = patching.patched(self.kind.resource, before, changes, request.minor)
        patching.check_logins(request, "baremetal:volume:update", "properties", before, values, changes)
        if "node_uuid" in values:
            values["node_id"] = self._new_owner(request, values.pop("node_uuid"))
        for name, value in values.items():
            setattr(record, name, value)
        record.save()

    def _new_owner(self, request: Request, uuid: str) -> int:
        owner = node_references.seen_holder(request, uuid, _NO_NODE)
        access.require(request, _CREATE, owner, uuid)
        return owner.id

    def delete(self, request: Request, ident: str) -> Answer:
        """Delete one."""
        (node,) = self.kind.rows(request).row(("node_uuid",), ident)
        node_writes.when_free(request, node, lambda record: self._delete(request, record, ident))
        return NO_CONTENT

    def _delete(self, request: Request, node: "NodeRecord", ident: str) -> None:
        node_rules.check_volume_unused(node, f"deleting a {self.kind.resource.singular}", deleting=True)
        self._still_there(request, node, ident)
        self.kind.rows(request).delete(ident)

    def _still_there(self, request: Request, node: "NodeRecord", ident: str) -> Any:
        """Return it if it belongs to the node yet; between two looks it may have moved."""
        record = self.kind.rows(request).get(ident)
        if record.node_id != node.id:
            raise Conflict(f"The {self.kind.resource.singular} was moved to another node in this moment. Try again.")
        return record

    def routes(self) -> tuple[Route, ...]:
        """Return the rows of the route table."""
        all_of_them = f"/v1/volume/{self.kind.name}"
        one, resource = f"{all_of_them}/{{{self.kind.ident}}}", self.kind.resource
        return (
            # Judged by the node that the body names.
            Route("POST", all_of_them, self.create, since=32, judges=True, of=Create(resource)),
            Route("PATCH", all_of_them, _WHOLE, since=32),
            Route("DELETE", all_of_them, _WHOLE, since=32),
            Route("POST", one, _WHOLE, since=32),
            Route("PATCH", one, self.patch, since=32, rule="baremetal:volume:update", of=Patch(resource)),
            Route("DELETE", one, self.delete, since=32, rule="baremetal:volume:delete", of=Delete(resource)),
        )


_WHOLE = needs_one("a UUID")

ROUTES = (*Writes(CONNECTORS).routes(), *Writes(TARGETS).routes())

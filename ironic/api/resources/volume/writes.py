"""Creating, changing and deleting volume connectors and targets.

A new one is a row and nothing more. One that exists may be in use by a running machine, so it is changed only while
nobody holds its node and the node is powered off; both are judged in the transaction that writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ironic.api import access, answers, named_nodes, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.refusing import needs_one
from ironic.api.request import Request
from ironic.api.resources.volume.reads import CONNECTORS, TARGETS, Kind
from ironic.api.routes import Route
from ironic.services import parts

if TYPE_CHECKING:
    from ironic.db import NodeRecord
    from ironic.db.repository import Repository


_NO_NODE: Final = "node_uuid names no node."
_CREATE: Final = "baremetal:volume:create"


@dataclass(frozen=True, slots=True)
class Writes:
    """The handlers that write one kind."""

    kind: Kind

    def create(self, request: Request, values: dict[str, Any]) -> Answer:
        """Add one to a node."""
        referred: dict[str, str] = {}

        def refer() -> dict[str, Any]:
            owner = named_nodes.holder(request, values.pop("node_uuid"), _CREATE, _NO_NODE)
            referred["node_uuid"] = owner.uuid
            return {**values, "node_id": owner.id}

        volumes: Repository[Any] = self.kind.rows(request)
        record = parts.add(request.store, volumes, refer)
        document = projection.full(self.kind.resource, request.minor).of_record(request, record, referred)
        return answers.created(document, request.url(f"/v1/volume/{self.kind.name}/{record.uuid}"))

    def patch(self, request: Request, ident: str, changes: Sequence[Change]) -> Answer:
        """Change one."""
        volumes, what = self.kind.rows(request), self.kind.resource.singular
        revise = partial(self._revised, request, changes)
        parts.change_volume(request.store, volumes, ident, what, revise, named_nodes.patience(request))
        view = projection.full(self.kind.resource, request.minor)
        return answers.document(view.document(request, volumes.row(view.columns, ident)))

    def _revised(self, request: Request, changes: Sequence[Change], record: Any, node: "NodeRecord") -> dict[str, Any]:
        known = [name for name in self.kind.resource.writable("patch") if name != "node_uuid"]
        before = {name: getattr(record, name) for name in known} | {"node_uuid": node.uuid}
        values = patching.patched(self.kind.resource, before, changes, request.minor)
        patching.check_logins(request, "baremetal:volume:update", "properties", before, values, changes)
        if "node_uuid" in values:
            uuid = values.pop("node_uuid")
            owner = named_nodes.seen_holder(request, uuid, _NO_NODE)
            access.require(request, _CREATE, owner, uuid)
            values["node_id"] = owner.id
        return values

    def delete(self, request: Request, ident: str) -> Answer:
        """Delete one."""
        volumes, what = self.kind.rows(request), self.kind.resource.singular
        parts.delete_volume(request.store, volumes, ident, what, named_nodes.patience(request))
        return NO_CONTENT

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

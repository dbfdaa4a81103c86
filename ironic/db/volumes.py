"""Volume connectors and targets of nodes."""

from collections.abc import Mapping
from typing import ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import IronicError, NodeNotFound
from ironic.core.errors.resource_errors import (
    VolumeConnectorAlreadyExists,
    VolumeConnectorNotFound,
    VolumeConnectorTypeAndIdAlreadyExists,
    VolumeTargetAlreadyExists,
    VolumeTargetBootIndexAlreadyExists,
    VolumeTargetNotFound,
)
from ironic.db.record import Record
from ironic.db.repository import Errors, R, Repository
from ironic.db.row_selection import Filter, Virtual, any_of
from ironic.db.tables import VolumeConnectorColumns, VolumeTargetColumns, nodes, volume_connectors, volume_targets
from ironic.db.transactions import unit_of_work


def _of_project(table: sa.Table, project: str) -> ColumnElement[bool]:
    is_of_project = sa.or_(nodes.c.owner == project, nodes.c.lessee == project)
    return table.c.node_id.in_(sa.select(nodes.c.id).where(is_of_project))


class OfNodes(Repository[R]):
    """Rows that belong to a node."""

    def parent_not_found(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a row whose node does not exist."""
        return NodeNotFound(node=values.get("node_id"))


class VolumeConnectorRecord(Record, VolumeConnectorColumns):
    """One connector: an address of the node in a storage network."""


class VolumeConnectors(OfNodes[VolumeConnectorRecord], record=VolumeConnectorRecord):
    """All volume connectors."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "node_id": any_of(volume_connectors.c.node_id),
        "project": lambda project: _of_project(volume_connectors, project),
    }
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, volume_connectors.c.node_id == nodes.c.id),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: VolumeConnectorAlreadyExists(resource="volume connector", field="uuid", value=value),
        "connector_id": lambda value: VolumeConnectorTypeAndIdAlreadyExists(connector_id=value),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a connector that does not exist."""
        return VolumeConnectorNotFound(connector=ident)


class VolumeTargetRecord(Record, VolumeTargetColumns):
    """One target: a volume that the node attaches."""


class VolumeTargets(OfNodes[VolumeTargetRecord], record=VolumeTargetRecord):
    """All volume targets."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "node_id": any_of(volume_targets.c.node_id),
        "project": lambda project: _of_project(volume_targets, project),
    }
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, volume_targets.c.node_id == nodes.c.id),
    }
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: VolumeTargetAlreadyExists(resource="volume target", field="uuid", value=value),
        "boot_index": lambda value: VolumeTargetBootIndexAlreadyExists(boot_index=value),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a target that does not exist."""
        return VolumeTargetNotFound(target=ident)

    @unit_of_work
    def delete_of(self, connection: Connection, node_id: int) -> None:
        """Remove the targets of a node."""
        connection.execute(sa.delete(volume_targets).where(volume_targets.c.node_id == node_id))

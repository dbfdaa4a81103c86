"""Volume connectors and targets of nodes."""

from collections.abc import Mapping
from typing import ClassVar

import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement

from ironic.core.errors import IronicError, NodeNotFound
from ironic.core.resource_errors import (
    VolumeConnectorAlreadyExists,
    VolumeConnectorNotFound,
    VolumeConnectorTypeAndIdAlreadyExists,
    VolumeTargetAlreadyExists,
    VolumeTargetBootIndexAlreadyExists,
    VolumeTargetNotFound,
)
from ironic.db.filters import Filter, any_of
from ironic.db.listing import Virtual
from ironic.db.record import Record
from ironic.db.repository import Errors, R, Repository
from ironic.db.tables import VolumeConnectorColumns, VolumeTargetColumns, nodes, volume_connectors, volume_targets


def _of_project(table: sa.Table, project: str) -> ColumnElement[bool]:
    theirs = sa.or_(nodes.c.owner == project, nodes.c.lessee == project)
    return table.c.node_id.in_(sa.select(nodes.c.id).where(theirs))


class OfNodes(Repository[R]):
    """What both kinds of row do alike."""

    def parent_missing(self, values: Mapping[str, object]) -> IronicError | None:
        """Return the error for a row whose node went away."""
        return NodeNotFound(node=values.get("node_id"))


class VolumeConnectorRecord(Record, VolumeConnectorColumns):
    """One connector: what names the node in a storage network."""


class VolumeConnectors(OfNodes[VolumeConnectorRecord], record=VolumeConnectorRecord):
    """All volume connectors."""

    filters: ClassVar[Mapping[str, Filter]] = {
        "node_id": any_of(volume_connectors.c.node_id),
        "project": lambda project: _of_project(volume_connectors, project),
    }
    virtual: ClassVar[Mapping[str, Virtual]] = {
        "node_uuid": Virtual(nodes.c.uuid, volume_connectors.c.node_id == nodes.c.id),
    }
    taken: ClassVar[Errors] = {
        "uuid": lambda value: VolumeConnectorAlreadyExists(resource="volume connector", field="uuid", value=value),
        "connector_id": lambda value: VolumeConnectorTypeAndIdAlreadyExists(connector_id=value),
    }

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a connector that is not there."""
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
    taken: ClassVar[Errors] = {
        "uuid": lambda value: VolumeTargetAlreadyExists(resource="volume target", field="uuid", value=value),
        "boot_index": lambda value: VolumeTargetBootIndexAlreadyExists(boot_index=value),
    }

    def missing(self, ident: str | int) -> IronicError:
        """Return the error for a target that is not there."""
        return VolumeTargetNotFound(target=ident)

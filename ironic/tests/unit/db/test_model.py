"""The model held against the tables: every stored field has a column of its kind, and no column is left over."""

from typing import Any

import pytest
import sqlalchemy as sa

from ironic.core.model.allocation import Allocation
from ironic.core.model.conductor import Conductor
from ironic.core.model.fields import Field, Resource
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.model.node import BiosSetting, Chassis, FirmwareComponent, HistoryEntry, Node
from ironic.core.model.port import Port, Portgroup
from ironic.core.model.step_lists import DeployTemplate, Runbook
from ironic.core.model.volumes import VolumeConnector, VolumeTarget
from ironic.core.values.value_types import Bool, Datetime, Integer, Json, Text
from ironic.db import tables
from ironic.db.allocations import Allocations
from ironic.db.column_types import Json as JsonColumn
from ironic.db.column_types import LongText, ShortText, UtcDateTime
from ironic.db.history import History
from ironic.db.nodes import Nodes
from ironic.db.ports import Portgroups, Ports
from ironic.db.volumes import VolumeConnectors, VolumeTargets

# With what stands in other tables and is read as if it were a column, and the columns that are the service's own.
STORED: list[tuple[type[Resource], sa.Table, Any, set[str]]] = [
    (
        Node,
        tables.nodes,
        Nodes,
        {
            "id",
            "chassis_id",
            "allocation_id",
            "conductor_affinity",
            "reservation_purpose",
            "reservation_token",
        },
    ),
    (Port, tables.ports, Ports, {"id", "node_id", "portgroup_id"}),
    (Portgroup, tables.portgroups, Portgroups, {"id", "node_id"}),
    (Chassis, tables.chassis, None, {"id"}),
    (Allocation, tables.allocations, Allocations, {"id", "node_id", "conductor_affinity"}),
    (VolumeConnector, tables.volume_connectors, VolumeConnectors, {"id", "node_id"}),
    (VolumeTarget, tables.volume_targets, VolumeTargets, {"id", "node_id"}),
    (DeployTemplate, tables.deploy_templates, None, {"id"}),
    (Runbook, tables.runbooks, None, {"id"}),
    (InspectionRule, tables.inspection_rules, None, {"id"}),
    (Conductor, tables.conductors, None, {"id", "online", "incarnation"}),
    (HistoryEntry, tables.node_history, History, {"id", "node_id", "updated_at"}),
    (BiosSetting, tables.bios_settings, None, {"node_id"}),
    (FirmwareComponent, tables.firmware_information, None, {"id", "node_id"}),
]
# Computed by a repository for its own callers: rules from a file are in no table.
NO_COLUMN = {("inspection_rules", "built_in")}

_KINDS: list[tuple[type[Any], tuple[type[Any], ...]]] = [
    (Text, (ShortText, LongText)),
    (Bool, (sa.Boolean,)),
    (Integer, (sa.Integer, sa.BigInteger)),
    (Datetime, (UtcDateTime,)),
    (Json, (JsonColumn,)),
]


def of_row(resource: type[Resource], repository: Any) -> dict[str, Field]:
    virtual = () if repository is None else repository.virtual
    return {
        str(one.column): one
        for one in resource.table.fields.values()
        if one.column is not None and one.column not in virtual and (resource.collection, one.column) not in NO_COLUMN
    }


@pytest.mark.parametrize(("resource", "repository"), [(row[0], row[2]) for row in STORED if row[2] is not None])
def test_the_store_knows_what_callers_filter_by(resource: type[Resource], repository: Any) -> None:
    assert {one.key for one in resource.table.filters.values()} - {None} <= repository.filters.keys()


@pytest.mark.parametrize(
    ("resource", "table", "repository", "own"), STORED, ids=[resource.collection for resource, *_ in STORED]
)
def test_the_columns_are_those_of_the_model(
    resource: type[Resource], table: sa.Table, repository: Any, own: set[str]
) -> None:
    fields = of_row(resource, repository)
    computed = {column for one in resource.table.fields.values() for column in one.needs if column in table.c}
    assert fields.keys() <= set(table.c.keys())
    assert set(table.c.keys()) - fields.keys() <= own | computed
    assert own <= set(table.c.keys())


@pytest.mark.parametrize(
    ("resource", "table", "repository"), [row[:3] for row in STORED], ids=[row[0].collection for row in STORED]
)
def test_a_column_holds_what_the_model_allows(resource: type[Resource], table: sa.Table, repository: Any) -> None:
    for name, one in of_row(resource, repository).items():
        column: Any = table.c[name]
        kinds = next((columns for kind, columns in _KINDS if isinstance(one.type, kind)), None)
        assert kinds is None or isinstance(column.type, kinds), name
        if isinstance(column.type, ShortText) and type(one.type) is Text and one.write:
            # A parent is named by callers and stored as a UUID.
            length = 255 if name == "parent_node" else column.type.length
            assert one.type.longest is not None and one.type.longest <= length, name
        # The store makes a UUID when none is given.
        if one.write and one.nullable and one.empty is None and name != "uuid":
            assert column.nullable, name

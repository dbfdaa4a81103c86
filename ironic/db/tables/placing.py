"""Where nodes stand and who has asked for one: chassis and allocations."""

from typing import Any

import sqlalchemy as sa

from ironic.db.tables.columns import Known, json_dict, json_list, plain, text, unique


class ChassisColumns(Known, name="chassis", also=(unique("chassis", "uuid"),)):
    """The columns of chassis."""

    extra: dict[str, Any] = json_dict()
    description: str | None = text(255)


chassis = ChassisColumns.table


# `node_id` and `conductor_affinity` are no foreign keys: nodes refer to allocations, and a circle of keys can
# neither be created nor be deleted in one go on every engine.
class AllocationColumns(
    Known,
    name="allocations",
    also=(
        unique("allocations", "uuid"),
        unique("allocations", "name"),
        sa.Index("allocations_node_id_idx", "node_id"),
    ),
):
    """The columns of allocations."""

    name: str | None = text(255)
    node_id: int | None = plain(sa.Integer)
    state: str = text(15)
    owner: str | None = text(255)
    last_error: str | None = text()
    resource_class: str | None = text(80)
    traits: list[str] = json_list()
    candidate_nodes: list[str] = json_list()
    extra: dict[str, Any] = json_dict()
    conductor_affinity: int | None = plain(sa.Integer)


allocations = AllocationColumns.table

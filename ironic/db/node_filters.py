"""The named filters of nodes, beside the comparison of columns with a value."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.sql.elements import ColumnElement

from ironic.db.filters import Contains, Filter, any_of, before, given, none_of
from ironic.db.tables import chassis, nodes


def _of_project(project: str) -> ColumnElement[bool]:
    return sa.or_(nodes.c.owner == project, nodes.c.lessee == project)


def _in_chassis(uuid: str) -> ColumnElement[bool]:
    return nodes.c.chassis_id == sa.select(chassis.c.id).where(chassis.c.uuid == uuid).scalar_subquery()


def _top_level(yes: object) -> ColumnElement[bool]:
    return given(nodes.c.parent_node)(not yes)


class Share(NamedTuple):
    """One of several equal parts of all nodes, and some more of them by id."""

    parts: int
    number: int
    also: Collection[int] = ()


def _of_share(share: Share) -> ColumnElement[bool]:
    mine = nodes.c.id % share.parts == share.number
    return sa.or_(mine, nodes.c.id.in_(share.also)) if share.also else mine


NODE_FILTERS: Mapping[str, Filter] = {
    "id_in": any_of(nodes.c.id),
    "uuid_in": any_of(nodes.c.uuid),
    "provision_state_in": any_of(nodes.c.provision_state),
    "provision_state_not_in": none_of(nodes.c.provision_state),
    "share": _of_share,
    "shard": any_of(nodes.c.shard),
    "associated": given(nodes.c.instance_uuid),
    "sharded": given(nodes.c.shard),
    "reserved": given(nodes.c.reservation),
    "description_contains": Contains(nodes.c.description),
    "provision_updated_before": before(nodes.c.provision_updated_at),
    "project": _of_project,
    "chassis_uuid": _in_chassis,
    "top_level": _top_level,
}

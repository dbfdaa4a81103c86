"""Checks of what a change of the release meets besides the tables: access rules, hardware types, owners of nodes.

Each only reads, and may be run beside the services of the reference, on its database too.
"""

import logging
import socket
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa
from oslo_upgradecheck.upgradecheck import Code, Result

from ironic.api.policy_files import BadPolicyFile, SiteRules, unused
from ironic.command import change_over
from ironic.conf import CONF
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.db import Store
from ironic.drivers.composition.composer import Composer
from ironic.drivers.composition.driver_options import DriverOptions
from ironic.drivers.composition.extensions import CLASSIC_GROUP, TYPES_GROUP, Extensions, installed, interfaces_group

_TYPE: Final = "driver"

_MOST_LISTED: Final = 8

# Kind of interface, or "driver", and name.
_Name = tuple[str, str]


def policy_files(_store: Store) -> Result:
    """Check the files with access rules: each can be read, and each rule has an effect."""
    if CONF.auth_strategy != "keystone":
        idle = unused(CONF)
        text = "Access rules are used with [DEFAULT]auth_strategy = keystone only"
        return Result(Code.WARNING if idle else Code.SUCCESS, sentences(text, *idle))
    try:
        with _silence():
            rules = SiteRules(CONF)
    except BadPolicyFile as error:
        return Result(Code.FAILURE, f"{error} The API would not start.")
    lines = rules.remarks + [
        f"The rule {old} counts also as {', '.join(names)}, which it once was. Write these as well, or see whether it "
        "is meant for them"
        for old, names in rules.older_names().items()
    ]
    if lines:
        return Result(Code.WARNING, sentences(*lines))
    return Result(Code.SUCCESS, f"The access rules can be used: {', '.join(rules.paths) or 'the defaults, no file'}.")


def sentences(*lines: str) -> str:
    """Join lines, of which the report makes one paragraph."""
    return "\n".join(f"{line}." for line in lines)


@contextmanager
def _silence() -> Iterator[None]:
    """Leave out of the log what the check itself says."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def owners_of_children(store: Store) -> Result:
    """Check that child nodes have the owner of their parent node, without which what concerns both is refused."""
    child, parent = (
        sa.table("nodes", *map(sa.column, ("uuid", "owner", "parent_node"))).alias(name) for name in ("child", "parent")
    )
    foreign = (
        sa.select(child.c.uuid)
        .join(parent, child.c.parent_node == parent.c.uuid)
        .where(sa.func.coalesce(child.c.owner, "") != sa.func.coalesce(parent.c.owner, ""))
        .order_by(child.c.uuid)
    )
    with store.engine.connect() as connection:
        known = sa.inspect(connection)
        has_parents = known.has_table("nodes") and "parent_node" in {one["name"] for one in known.get_columns("nodes")}
        found = [str(uuid) for (uuid,) in connection.execute(foreign)] if has_parents else []
    if not found:
        return Result(Code.SUCCESS, "No node has a parent_node of another owner.")
    return Result(
        Code.WARNING,
        f"{len(found)} nodes have a parent_node of another owner. Steps for child nodes are refused, and so is to "
        "switch the parent off or such a child on: give both one owner, or remove parent_node. The first are: "
        f"{', '.join(found[:_MOST_LISTED])}.",
    )


def drivers(store: Store) -> Result:
    """Check that what the configuration enables and what the nodes have can be loaded here."""
    here = installed()
    found = Composer(DriverOptions.from_conf(CONF), here).examine()
    served: set[_Name] = {(_TYPE, name) for name in found.drivers}
    for kinds in found.supported.values():
        served |= {(kind, name) for kind, each in kinds.items() for name in each.names}
    used: Counter[_Name] = Counter()
    with store.engine.connect() as connection:
        if sa.inspect(connection).has_table("nodes"):
            used = _of_nodes(connection)
    if used and not change_over.revision(store.engine):
        for row in store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout):
            served |= {(_TYPE, row.hardware_type), (row.interface_type, row.interface_name or "")}
    lines = [*found.faults, *found.remarks]
    if found.faults:
        lines.append(f"A conductor with this configuration would not start on {socket.gethostname()}")
    lines += _unserved({name: count for name, count in used.items() if name not in served}, here)
    if lines:
        return Result(Code.FAILURE if found.faults else Code.WARNING, sentences(*lines))
    names = ", ".join(found.drivers)
    return Result(
        Code.SUCCESS, f"What is enabled can be loaded, and serves all nodes. The hardware types are: {names}."
    )


def _of_nodes(connection: sa.Connection) -> Counter[_Name]:
    """Count nodes by hardware type and by interface; the columns are the same in the reference's table."""
    used: Counter[_Name] = Counter()
    present = {column["name"] for column in sa.inspect(connection).get_columns("nodes")}
    for kind, name in {_TYPE: _TYPE, **{kind: interface_field(kind) for kind in KINDS}}.items():
        if name in present:
            column = sa.column(name, sa.String)
            counted = sa.select(column, sa.func.count()).select_from(sa.table("nodes")).group_by(column)
            used.update({(kind, value): count for value, count in connection.execute(counted) if value})
    return used


def _unserved(used: Mapping[_Name, int], here: Extensions) -> Iterator[str]:
    """Yield what to do about names of nodes that no conductor would serve: a line each, those that are here in one."""
    present = []
    for (kind, name), count in used.items():
        is_type = kind == _TYPE
        what = "hardware type" if is_type else f"{kind} interface"
        groups = [TYPES_GROUP, CLASSIC_GROUP] if is_type else [interfaces_group(kind)]
        if any(name in here[group] for group in groups):
            present.append(f"{what} {name} ({count} nodes)")
        else:
            yield change_over.missing(what, name, count)
    if present:
        yield (
            f"This configuration does not serve {', '.join(present)}: add them to [DEFAULT]enabled_hardware_types and "
            "enabled_*_interfaces, unless other conductors have them"
        )

"""Inspection data: the newest inventory of each node, and the newest refusals of what ramdisks sent.

Refusals are stored in the database, so that every API process shows the same ones. Every client that reaches the
callback can add one, so both the number of rows and their lengths are limited.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import InvalidParameterValue
from ironic.db.column_types import JsonText, decode_json, encode_json, storable
from ironic.db.engines import upsert
from ironic.db.tables import node_inventory, rejected_callbacks
from ironic.db.transactions import Transactions, unit_of_work

# Of a statement of MySQL: characters that it has twice, bytes that every server takes, bytes beside the texts.
_ESCAPED = "\"'\\"
_ALWAYS_TAKEN = 400_000
_OVERHEAD = 4096


class Inventories:
    """One inventory of each node: those that are in force, or those that were refused."""

    def __init__(self, transactions: Transactions, stored_in: sa.Table = node_inventory) -> None:
        self.transactions = transactions
        self._table = stored_in
        self._of_node = stored_in.c.node_id == sa.bindparam("of_node")
        self._since = sa.func.coalesce(stored_in.c.updated_at, stored_in.c.created_at)
        self._texts = sa.select(stored_in.c.inventory_data, stored_in.c.plugin_data).where(self._of_node)

    def put(self, node_id: int, inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> None:
        """Store the inventory of a node in place of its earlier one."""
        # Some are megabytes: they are encoded before the transaction, for which other writers wait.
        self.put_texts(node_id, encode_json(inventory, "inventory"), encode_json(plugin_data, "plugin_data"))

    @unit_of_work
    def put_texts(self, connection: Connection, node_id: int, inventory: JsonText, plugin_data: JsonText) -> None:
        """Store an inventory that is encoded; raises InvalidParameterValue if it is too large for a MySQL server."""
        size = len(inventory) + len(plugin_data)
        if self.transactions.dialect == "mysql" and size >= _ALWAYS_TAKEN:
            # The server would close the connection.
            most: int = connection.exec_driver_sql("SELECT @@max_allowed_packet").scalar_one()
            size = _OVERHEAD + sum(
                len(text.encode()) + sum(map(text.count, _ESCAPED)) for text in (inventory, plugin_data)
            )
            if size > most:
                raise InvalidParameterValue(
                    err=f"inventory and plug-in data take {size} bytes on their way to the database, whose "
                    f"max_allowed_packet is {most}. Raise that, or lower [inventory]size_limit to what it takes"
                )
        now = self.transactions.clock.now()
        found = {"inventory_data": inventory, "plugin_data": plugin_data}
        values = {"node_id": node_id, "created_at": now, **found}
        # In one statement, which has each text once: some are megabytes.
        connection.execute(
            upsert(
                self.transactions.dialect,
                self._table,
                "node_id",
                values,
                lambda new: [*((name, new[name]) for name in found), ("updated_at", now)],
            )
        )

    def texts(self, node_id: int) -> tuple[str, str] | None:
        """Return the inventory and the plug-in data as stored JSON text, or None."""
        with self.transactions.reading() as connection:
            found = connection.execute(self._texts, {"of_node": node_id}).first()
        return None if found is None else (found[0], found[1])

    def stored_at(self, node_id: int) -> datetime | None:
        """Return when the inventory of a node was stored, None when there is none."""
        with self.transactions.reading() as connection:
            moment: datetime | None = connection.execute(
                sa.select(self._since).where(self._of_node), {"of_node": node_id}
            ).scalar()
        return moment

    @unit_of_work
    def delete_older(self, connection: Connection, moment: datetime, limit: int) -> int:
        """Remove inventories of before a time, the oldest first, at most ``limit``; return how many were removed."""
        ident = self._table.c.id
        chosen = sa.select(ident).where(moment > self._since).order_by(self._since).limit(limit)
        # In two statements: MySQL has no LIMIT in a subquery.
        ids = list(connection.execute(chosen).scalars())
        # The time is checked again, as an inspection may have ended in between.
        old = sa.and_(ident.in_(ids), moment > self._since)
        return connection.execute(sa.delete(self._table).where(old)).rowcount if ids else 0

    @unit_of_work
    def delete(self, connection: Connection, node_id: int) -> None:
        """Remove the inventory of a node."""
        connection.execute(sa.delete(self._table).where(self._of_node), {"of_node": node_id})


_LONGEST_REASON: Final = 1000
_MOST_ADDRESSES: Final = 64
_NEWEST_FIRST: Final = rejected_callbacks.c.id.desc()


class RejectedCallback(NamedTuple):
    """One refusal."""

    at: datetime
    source: str | None
    reason: str
    macs: list[str]
    bmc_addresses: list[str]
    node_uuid: str | None


class RejectedCallbacks:
    """The newest refusals of inspection data."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    @unit_of_work
    def add(
        self,
        connection: Connection,
        *,
        source: str | None,
        reason: str,
        macs: Sequence[str],
        bmc_addresses: Sequence[str],
        node_uuid: str | None,
        kept: int,
    ) -> None:
        """Store a refusal and remove all but the newest ``kept``; keys only grow, so a lower one is older."""
        values: dict[str, Any] = {
            "at": self.transactions.clock.now(),
            "source": source and source[:45],
            "reason": storable(reason, _LONGEST_REASON),
            "macs": list(macs[:_MOST_ADDRESSES]),
            "bmc_addresses": list(bmc_addresses[:_MOST_ADDRESSES]),
            "node_uuid": node_uuid,
        }
        added = connection.execute(sa.insert(rejected_callbacks).values(values)).inserted_primary_key
        if added is not None:
            connection.execute(sa.delete(rejected_callbacks).where(rejected_callbacks.c.id <= added[0] - kept))

    def newest(self, limit: int) -> list[RejectedCallback]:
        """Return the stored refusals, the newest first."""
        columns = [rejected_callbacks.c[name] for name in RejectedCallback._fields]
        with self.transactions.reading() as connection:
            found = connection.execute(sa.select(*columns).order_by(_NEWEST_FIRST).limit(limit))
            return [
                RejectedCallback(row[0], row[1], row[2], decode_json(row[3]), decode_json(row[4]), row[5])
                for row in found
            ]

"""What inspection found: one inventory per node, the newest."""

from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.core.errors import InvalidParameterValue
from ironic.db.stored_text import JsonText, encode
from ironic.db.tables import node_inventory
from ironic.db.transactions import Transactions, unit_of_work
from ironic.db.upsert import put

# A statement of MySQL has quotes and backslashes of a text twice, and takes so much whatever the server's settings.
_ESCAPED = "\"'\\"
_SURELY_TAKEN = 400_000
_OVERHEAD = 4096

_OF_NODE = node_inventory.c.node_id == sa.bindparam("of_node")
_SINCE = sa.func.coalesce(node_inventory.c.updated_at, node_inventory.c.created_at)
_TEXTS = sa.select(node_inventory.c.inventory_data, node_inventory.c.plugin_data).where(_OF_NODE)


class Inventories:
    """The inventories of all nodes."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def put(self, node_id: int, inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> None:
        """Keep what was found on a node in place of what was known before."""
        # Some are megabytes: encode before the transaction, which keeps other writers waiting.
        self.put_texts(node_id, encode(inventory, "inventory"), encode(plugin_data, "plugin_data"))

    @unit_of_work
    def put_texts(self, connection: Connection, node_id: int, inventory: JsonText, plugin_data: JsonText) -> None:
        """Do the same with what is encoded already."""
        self._check_size(connection, inventory, plugin_data)
        now = self.transactions.clock()
        found = {"inventory_data": inventory, "plugin_data": plugin_data}
        values = {"node_id": node_id, "created_at": now, **found}
        # One statement, and no text twice in it: some are megabytes.
        connection.execute(
            put(
                self.transactions.dialect,
                node_inventory,
                "node_id",
                values,
                lambda new: [*((name, new[name]) for name in found), ("updated_at", now)],
            )
        )

    def _check_size(self, connection: Connection, *texts: str) -> None:
        """Refuse what MySQL would cut the connection for."""
        if self.transactions.dialect != "mysql" or sum(map(len, texts)) < _SURELY_TAKEN:
            return
        most: int = connection.exec_driver_sql("SELECT @@max_allowed_packet").scalar_one()
        size = _OVERHEAD + sum(len(text.encode()) + sum(map(text.count, _ESCAPED)) for text in texts)
        if size > most:
            raise InvalidParameterValue(
                err=f"inventory and plug-in data take {size} bytes on their way to the database, whose "
                f"max_allowed_packet is {most}. Raise that, or lower [inventory]size_limit to what it takes"
            )

    def texts(self, node_id: int) -> tuple[str, str] | None:
        """Return the inventory and the plug-in data as stored JSON text, or None."""
        with self.transactions.reading() as connection:
            found = connection.execute(_TEXTS, {"of_node": node_id}).first()
        return None if found is None else (found[0], found[1])

    @unit_of_work
    def delete_older(self, connection: Connection, moment: datetime, limit: int) -> int:
        """Forget what was found before then, the oldest first, at most so many; return how many went."""
        chosen = sa.select(node_inventory.c.id).where(moment > _SINCE).order_by(_SINCE).limit(limit)
        # Chosen first: MySQL knows no limit in a subquery.
        ids = list(connection.execute(chosen).scalars())
        # An inspection may have ended since.
        old = sa.and_(node_inventory.c.id.in_(ids), moment > _SINCE)
        return connection.execute(sa.delete(node_inventory).where(old)).rowcount if ids else 0

    @unit_of_work
    def delete(self, connection: Connection, node_id: int) -> None:
        """Forget what was found on a node."""
        connection.execute(sa.delete(node_inventory).where(_OF_NODE), {"of_node": node_id})

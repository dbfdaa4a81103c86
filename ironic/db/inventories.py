"""What inspection found: one inventory per node, the newest."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ironic.db.stored_text import JsonText, encode
from ironic.db.tables import node_inventory
from ironic.db.transactions import Transactions, unit_of_work

_OF_NODE = node_inventory.c.node_id == sa.bindparam("of_node")
_TEXTS = sa.select(node_inventory.c.inventory_data, node_inventory.c.plugin_data).where(_OF_NODE)


class Inventories:
    """The inventories of all nodes."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def put(self, node_id: int, inventory: Mapping[str, Any], plugin_data: Mapping[str, Any]) -> None:
        """Keep what was found on a node in place of what was known before."""
        # Some are megabytes: encode before the transaction, which keeps other writers waiting.
        self.put_texts(node_id, encode(inventory, "inventory"), encode(plugin_data, "plugin_data"))

    @unit_of_work
    def put_texts(self, connection: Connection, node_id: int, inventory: JsonText, plugin_data: JsonText) -> None:
        """Do the same with what is encoded already."""
        found = {"inventory_data": inventory, "plugin_data": plugin_data}
        now = self.transactions.clock()
        replace = sa.update(node_inventory).where(_OF_NODE).values(**found, updated_at=now)
        if not connection.execute(replace, {"of_node": node_id}).rowcount:
            connection.execute(sa.insert(node_inventory).values(node_id=node_id, created_at=now, **found))

    def texts(self, node_id: int) -> tuple[str, str] | None:
        """Return the inventory and the plug-in data as stored JSON text, or None."""
        with self.transactions.reading() as connection:
            found = connection.execute(_TEXTS, {"of_node": node_id}).first()
        return None if found is None else (found[0], found[1])

    @unit_of_work
    def delete(self, connection: Connection, node_id: int) -> None:
        """Forget what was found on a node."""
        connection.execute(sa.delete(node_inventory).where(_OF_NODE), {"of_node": node_id})

"""Rows to test with."""

import itertools
from typing import Any

from ironic.db import NodeRecord, PortRecord, Store

_numbers = itertools.count(1)


def node(store: Store, **values: Any) -> NodeRecord:
    return store.nodes.create({"driver": "fake-hardware"} | values)


def port(store: Store, owner: NodeRecord, **values: Any) -> PortRecord:
    number = next(_numbers)
    address = f"52:54:00:00:{number // 256:02x}:{number % 256:02x}"
    return store.ports.create({"node_id": owner.id, "address": address} | values)


def break_lock(store: Store, node_id: int) -> None:
    """Free a node whose holder may be at work, as a take-over does."""
    with store.writing():
        found = store.nodes.lock_row(node_id)
        found.held_by, found.held_token = found.reservation, found.reservation_token
        store.nodes.save_and_release(found)

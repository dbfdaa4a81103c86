"""Rows that tests of resources start from."""

from typing import Any

from ironic.db import NodeRecord, PortRecord
from ironic.tests.functional.wire.service import SERVED, Service


def add_node(service: Service, **columns: Any) -> NodeRecord:
    """Store a node."""
    interfaces = {f"{kind}_interface": names[0] for kind, names in SERVED["fake-hardware"].items()}
    common = {"driver": "fake-hardware", "conductor_group": "", "provision_state": "enroll"}
    return service.store.nodes.create(common | interfaces | columns)


def add_port(service: Service, node: NodeRecord, address: str, **columns: Any) -> PortRecord:
    """Store a port of a node."""
    return service.store.ports.create({"node_id": node.id, "address": address, **columns})

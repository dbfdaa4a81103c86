"""A running API for tests that need more than an exchange: other settings, other rows, counted statements."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.settings import ApiSettings
from ironic.db import NodeRecord, PortRecord
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import SERVED, Service


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Return a function that starts the API with some settings."""
    running: list[Service] = []

    def begin(**settings: Any) -> Service:
        running.append(services.start(tmp_path, ApiSettings(**{"node_locked_attempts": 1, **settings})))
        return running[-1]

    yield begin
    for one in running:
        one.close()


@pytest.fixture
def service(start: Callable[..., Service]) -> Service:
    """Return an API with the default settings and nothing in it."""
    return start()


def add_node(service: Service, **columns: Any) -> NodeRecord:
    """Store a node."""
    interfaces = {f"{kind}_interface": names[0] for kind, names in SERVED["fake-hardware"].items()}
    common = {"driver": "fake-hardware", "conductor_group": "", "provision_state": "enroll"}
    return service.store.nodes.create(common | interfaces | columns)


def add_port(service: Service, node: NodeRecord, address: str, **columns: Any) -> PortRecord:
    """Store a port of a node."""
    return service.store.ports.create({"node_id": node.id, "address": address, **columns})

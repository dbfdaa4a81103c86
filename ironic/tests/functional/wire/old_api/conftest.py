"""The API of the standalone inspector in this process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.inspector.old_api import InspectorApi
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.old_api.asking import MAC, NAME, NODE
from ironic.tests.functional.wire.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Return the API with one manageable node, which has a port."""
    running = services.start(tmp_path, served=InspectorApi())
    interfaces: dict[str, Any] = {f"{k}_interface": names[0] for k, names in services.SERVED["fake-hardware"].items()}
    values = interfaces | {"driver": "fake-hardware", "conductor_group": "", "provision_state": "manageable"}
    node = running.store.nodes.create(values | {"uuid": NODE, "name": NAME})
    running.store.ports.create({"node_id": node.id, "address": MAC})
    yield running
    running.close()


@pytest.fixture(scope="module")
def identity() -> Iterator[str]:
    """Play Keystone and return its URL."""
    with keystone.playing() as url:
        yield url

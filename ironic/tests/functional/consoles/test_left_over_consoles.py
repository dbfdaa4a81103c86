"""A conductor closes the consoles of its host that no node needs, and no others."""

from pathlib import Path
from typing import Any

import pytest

from ironic.conductor.consoles import ConsoleRestorer
from ironic.db import Store
from ironic.drivers.modules.console.console_servers import SERVERS
from ironic.drivers.modules.console.socat_command import ConsoleCommand
from ironic.rpc.hash_ring import HashRingManager
from ironic.tests.functional.consoles.lines import talk
from ironic.tests.live_service import free_port
from ironic.tests.unit.conductor.flows.bench import HOST, Bench, Script
from ironic.tests.unit.conductor.managed import Managed, Notes


@pytest.fixture
def bench(store: Store) -> Bench:
    store.conductors.register(HOST, "", ["managed"], [])
    composition: Any = Managed(Notes())
    return Bench(store, composition, Script())


def test_a_console_is_left_over_if_its_node_is_known_to_need_none(bench: Bench, conf: Any, tmp_path: Path) -> None:
    conf(host=HOST, console__terminal_pid_dir=str(tmp_path / "consoles"), console__socat_address="127.0.0.1")
    reopen = ConsoleRestorer(bench.tasks, HashRingManager(bench.store, heartbeat_timeout=60))
    uuid = bench.store.nodes.create({"driver": "managed", "provision_state": "active", "console_enabled": False}).uuid
    port = free_port()
    with bench.tasks.acquire(bench.context, uuid, purpose="opening the console") as task:
        SERVERS.start(uuid, ConsoleCommand(["cat"]), port)
        reopen()
        assert talk(f"tcp://127.0.0.1:{port}"), "a console that is just being opened was closed"
        task.node.console_enabled = True
        task.node.save()
    reopen()
    assert talk(f"tcp://127.0.0.1:{port}")
    bench.store.nodes.update(uuid, {"console_enabled": False})
    reopen()
    with pytest.raises(ConnectionRefusedError):
        talk(f"tcp://127.0.0.1:{port}")

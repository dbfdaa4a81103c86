"""SQLite under load: many clients write and read at once, and none gets an error of a locked database."""

from pathlib import Path

from ironic import db
from ironic.tests import load
from ironic.tests.live_service import all_in_one, free_port
from ironic.tests.load import machine_free_options, nodes_of
from ironic.tests.site import eventually


def test_nobody_hears_of_a_locked_database(tmp_path: Path) -> None:
    port = free_port()
    options = machine_free_options(tmp_path, port)
    with all_in_one([options], tmp_path / "ironic.log", port) as service:
        nodes = nodes_of(service, 40)
        result = load.run(port, nodes, writers=8, readers=20, seconds=3)
        assert (set(result.writes.statuses), set(result.reads.statuses)) == ({200}, {200}), result.writes.refusals
        assert "database is locked" not in service.log
        # Nor did the conductor, whose heartbeat is a write every second.
        assert "could not renew its heartbeat" not in service.log
        eventually(lambda: [one["alive"] for one in service.get("/v1/conductors").json()["conductors"]], [True])
        store = db.connect(f"sqlite:///{tmp_path}/ironic.sqlite")
        # A change of a node that came after the last acknowledged one was cut off by the end, and may be there or not.
        assert all(store.nodes.get(uuid).extra["number"] >= number for uuid, number in result.acknowledged.items())
        store.close()
    assert len(result.acknowledged) == len(nodes)

"""One of two conductors dies while its nodes wait for steps that go on elsewhere: the other one goes on with them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.tests.databases import database_with_tables
from ironic.tests.functional.life.stepping import ENTRY_POINTS, KINDS, PACKAGE, STEPS, Case, driver_info, options
from ironic.tests.functional.life.works import row
from ironic.tests.out_of_tree import lay_out
from ironic.tests.site import BOTH, Site, eventually

PATIENCE = 60


@pytest.fixture
def site(tmp_path: Path, carrier: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Site, db.Store]]:
    """Run an API and two conductors with the stepping interface."""
    monkeypatch.setenv("PYTHONPATH", str(lay_out(tmp_path / "package", PACKAGE, ENTRY_POINTS)))
    with database_with_tables("mariadb", tmp_path) as url:
        running = Site(tmp_path, url, carrier=carrier)
        store = db.connect(url)
        services = [
            running.start_api(options()),
            *(running.start_conductor(name, options()) for name in ("one", "two")),
        ]
        try:
            for service in services:
                service.await_ready()
            eventually(running.alive, {"one", "two"}, PATIENCE)
            yield running, store
        finally:
            running.stop()
            store.close()


@BOTH
@pytest.mark.demand("S60")
def test_the_other_goes_on_and_no_step_repeats(site: tuple[Site, db.Store], tmp_path: Path) -> None:
    running, store = site
    cases = []
    for kind in KINDS:
        directory = tmp_path / kind.name
        directory.mkdir()
        (node,) = running.nodes_of("two", driver_info=driver_info(directory, waits=True))[:1]
        store.nodes.update(node["uuid"], {"provision_state": kind.begins, "power_state": states.POWER_ON})
        running.put(f"/v1/nodes/{node['uuid']}/states/provision", kind.body)
        cases.append(Case(node["uuid"], kind, directory, waits=True, place=None))
    for case in cases:
        eventually(lambda case=case: row(store, case.uuid)[:2], (case.kind.waiting, None), PATIENCE)  # type: ignore[misc]  # mypy infers no type of a default
    running.kill("two")
    for case in cases:
        case.let_go()
    for case in cases:
        eventually(partial(row, store, case.uuid), (case.kind.ends, None, None), PATIENCE)
        assert case.begun == STEPS

"""Databases that releases of the reference have left are taken over, on every kind of database."""

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ironic.api.app import BARE_METAL, build_app
from ironic.api.settings import ApiSettings
from ironic.db import SchemaOutdated, connect, engines, require_current, row_copy, schema, takeover
from ironic.db.exclusive_use import DatabaseLocked, locked
from ironic.db.schema_version import SCHEMA_VERSION, WorkUnfinished
from ironic.db.tables import metadata
from ironic.db.takeover import Loss, Settings, TakeOver
from ironic.db.transfer import Origin, TargetRefused, is_filled, transfer
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.tests.functional.wire import service as wire
from ironic.tests.functional.wire.recording_conductor import SERVED, RecordingConductor, interface_rows
from ironic.tests.reference_databases import BASE, VERSIONS, Recorded, differences, recorded, restore

NEWEST = "39.0.0"
# Nodes of all records are at work: the reference was killed.
AS_RECORDED = Settings(accepted=("work", "running"))


def quiet(_text: str) -> None:
    pass


@contextmanager
def engine_of(url: str) -> Iterator[Engine]:
    engine = engines.create(url, engines.PoolOptions())
    yield engine
    engine.dispose()


def take_over(url: str, settings: Settings = AS_RECORDED, say: Callable[[str], None] = quiet) -> None:
    """Take over a database, or go on with it."""
    with engine_of(url) as engine:
        begun = TakeOver(engine, say)
        if begun.phase in (None, takeover.DONE):
            with engine.connect() as connection:
                found = takeover.recognise(connection)
            assert found is not None
            begun.begin(found, settings)
        begun.run()


@contextmanager
def serving(url: str) -> Iterator[wire.Service]:
    """Give our API in this process on a database, with a conductor that only notes."""
    store = connect(url)
    store.conductors.register("machine-room", "", list(SERVED), interface_rows())
    hash_ring = HashRingManager(store, heartbeat_timeout=3600)
    transport, conductor = InProcess(), RecordingConductor()
    transport.register("machine-room", conductor)
    settings = ApiSettings(node_locked_attempts=1)
    conf: Any = None
    app = build_app(store, ConductorClients(transport, hash_ring), hash_ring, settings, conf, BARE_METAL)
    service = wire.Service(store, conductor, hash_ring, app, settings)
    yield service
    service.close()


def compare(url: str, record: Recorded) -> list[str]:
    """Return where our answers are others than those of the reference."""
    with serving(url) as service:

        def get(path: str) -> tuple[int, Any]:
            answer = service.call("GET", path, version=record.microversion)
            return answer.status, json.loads(answer.body.decode().replace(wire.BASE, BASE))

        return list(differences(record, get, fractions=not url.startswith("mysql")))


def contents(url: str) -> dict[str, Any]:
    """Return tables, columns, keys, indexes and rows as the database itself names them."""
    with engine_of(url) as engine, engine.connect() as connection:
        found = sa.inspect(connection)
        return {
            name: (
                {column["name"]: {**column, "type": repr(column["type"])} for column in found.get_columns(name)},
                sorted(found.get_indexes(name), key=str),
                sorted(found.get_unique_constraints(name), key=str),
                sorted(
                    (str(key["referred_table"]), str(key["constrained_columns"]))
                    for key in found.get_foreign_keys(name)
                ),
                sorted(map(str, connection.exec_driver_sql(f"SELECT * FROM {name}"))),
            )
            for name in sorted(found.get_table_names())
        }


def change(url: str, *statements: str) -> None:
    """Change a database of the reference by hand."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def one(url: str, statement: str) -> Any:
    """Return the first value of a query's answer."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = connection.exec_driver_sql(statement).scalar()
    engine.dispose()
    return found


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return the URL of an SQLite file of the newest release."""
    url = f"sqlite:///{tmp_path}/reference.sqlite"
    restore(url, NEWEST)
    return url


def test_there_is_a_record_of_each_release() -> None:
    assert VERSIONS == ("24.1.5", "26.1.6", "29.0.6", "32.0.1", "35.0.1", "38.0.0", "39.0.0")
    for version in VERSIONS:
        assert recorded(version).revision in takeover.REVISIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_every_answer_is_the_one_that_the_reference_gave(tmp_path: Path, version: str) -> None:
    url = f"sqlite:///{tmp_path}/reference.sqlite"
    record = restore(url, version)
    take_over(url)
    assert schema.current(url) == SCHEMA_VERSION
    assert compare(url, record) == []


@pytest.mark.parametrize("version", [VERSIONS[0], NEWEST])
def test_so_it_is_on_servers(empty_server: str, version: str) -> None:
    record = restore(empty_server, version)
    take_over(empty_server)
    assert compare(empty_server, record) == []
    with serving(empty_server) as service:
        made = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "name": "new"})
        assert made.status == 201, made.body


def test_the_way_back_leads_to_the_same_tables_and_rows(empty: str) -> None:
    restore(empty, NEWEST)
    before = contents(empty)
    take_over(empty)
    with engine_of(empty) as engine:
        TakeOver(engine, quiet).go_back([])
    assert contents(empty) == before
    take_over(empty)
    with engine_of(empty) as engine:
        TakeOver(engine, quiet).drop()
    assert set(contents(empty)) == {*metadata.tables, "alembic_version"}


_battery = pytest.mark.battery
IN_BATTERY_ON_SERVERS = pytest.mark.parametrize(
    "empty",
    ["sqlite", pytest.param("mariadb", marks=_battery), pytest.param("postgresql", marks=_battery)],
    indirect=True,
)


def killed_at(url: str, event: str, number: int) -> bool:
    """Take over in a process that is killed at a commit or a statement; return whether it was done before."""
    child = os.fork()
    if not child:
        seen = 0

        def count(*_arguments: object) -> None:
            nonlocal seen
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            sa.event.listen(Engine, event, count)
            take_over(url)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


@IN_BATTERY_ON_SERVERS
def test_it_goes_on_wherever_it_was_killed(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process is killed at its second commit: each step is lost once before its end, and made by the next one."""
    monkeypatch.setattr(row_copy, "_MOST_ROWS", 8)
    record = restore(empty, NEWEST)
    killed_at(empty, "before_cursor_execute", 60)
    rounds = 0
    while not killed_at(empty, "commit", 2):
        store = connect(empty)
        with pytest.raises(SchemaOutdated, match="ironic-dbsync upgrade"):
            require_current(store)
        store.close()
        rounds += 1
    assert rounds > 20
    assert compare(empty, record) == []


@IN_BATTERY_ON_SERVERS
def test_the_way_back_goes_on_wherever_it_was_killed(empty: str) -> None:
    restore(empty, NEWEST)
    before = contents(empty)
    take_over(empty)
    for _ in range(10):
        child = os.fork()
        if not child:
            seen: list[int] = []

            def count(*_arguments: object, seen: list[int] = seen) -> None:
                seen.append(1)
                if len(seen) == 2:
                    os.kill(os.getpid(), signal.SIGKILL)

            try:
                sa.event.listen(Engine, "commit", count)
                with engine_of(empty) as engine, suppress(takeover.NothingAside):
                    # It was back already where the server had stored what the killed one had not committed yet.
                    TakeOver(engine, quiet).go_back([])
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            break
    assert status == 0
    assert contents(empty) == before


def test_looking_at_a_file_of_the_reference_changes_no_byte_of_it(file: str, tmp_path: Path) -> None:
    path = tmp_path / "reference.sqlite"
    before = path.read_bytes()
    store = connect(file)
    with pytest.raises(SchemaOutdated, match="run `ironic-dbsync upgrade`"):
        require_current(store)
    with store.reading() as connection:
        takeover.plan(connection, Settings())
    store.close()
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["reference.sqlite"]


def test_a_revision_that_is_not_known_is_refused_with_those_that_are(file: str, tmp_path: Path) -> None:
    change(file, "UPDATE alembic_version SET version_num = 'd163df1bab88'")
    before = (tmp_path / "reference.sqlite").read_bytes()
    with pytest.raises(takeover.NotKnown, match="d163df1bab88.*9fb44677ef15 of 39.0.*a release of the reference first"):
        take_over(file)
    assert (tmp_path / "reference.sqlite").read_bytes() == before


def test_a_file_that_the_reference_could_not_upgrade_to_its_end_is_taken_over(tmp_path: Path) -> None:
    """Such a file has the columns up to 34.0, text for truth values where SQLite filled them in, and older versions."""
    url = f"sqlite:///{tmp_path}/reference.sqlite"
    record = restore(url, "29.0.6")
    change(
        url,
        "UPDATE alembic_version SET version_num = '9f8c7d6e5b4a'",
        *(f"ALTER TABLE ports ADD COLUMN {column}" for column in ("description VARCHAR(255)", "vendor VARCHAR(32)")),
        "ALTER TABLE ports ADD COLUMN category VARCHAR(80)",
        "ALTER TABLE portgroups ADD COLUMN physical_network VARCHAR(64)",
        "ALTER TABLE portgroups ADD COLUMN category VARCHAR(80)",
        "ALTER TABLE nodes ADD COLUMN instance_name VARCHAR(255)",
        "ALTER TABLE nodes ADD COLUMN health VARCHAR(32)",
        "UPDATE nodes SET disable_power_off = 'false'",
    )
    take_over(url)
    assert compare(url, record) == []


def found_in(url: str) -> takeover.Findings:
    with engine_of(url) as engine, engine.connect() as connection:
        return takeover.plan(connection, Settings())


@pytest.mark.parametrize(
    ("kind", "statement", "where"),
    [
        (Loss.TAGS, "INSERT INTO node_tags (node_id, tag) VALUES (1, 'blue')", "row 1 of node_tags"),
        (Loss.ORPHANS, "INSERT INTO node_traits (node_id, trait) VALUES (999, 'CUSTOM_X')", "node_traits 999"),
        (Loss.ORPHANS, "UPDATE ports SET portgroup_id = 999", ".portgroup_id"),
        (Loss.NUMBERS, """UPDATE nodes SET extra = '{"a": NaN}' WHERE id = 1""", ".extra"),
        (Loss.NUMBERS, """UPDATE nodes SET extra = '{"a": [99999999999999999999]}' WHERE id = 1""", ".extra"),
        (Loss.TEXT, """UPDATE nodes SET extra = '{"a": "\\ud800"}' WHERE id = 1""", ".extra"),
        (Loss.TEXT, f"UPDATE nodes SET owner = '{'x' * 300}' WHERE id = 1", ".owner"),
        (Loss.INVENTORIES, "INSERT INTO node_inventory (id, node_id) SELECT 99, node_id FROM node_inventory", "tory 1"),
        (Loss.INCOMPLETE, "UPDATE ports SET address = NULL WHERE id = 1", ".address"),
        (Loss.RUNNING, "UPDATE conductors SET online = 1, updated_at = '2999-01-01 00:00:00.000000'", "machine-room"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_said_and_stops_until_it_is_accepted(
    file: str, kind: Loss, statement: str, where: str
) -> None:
    change(file, statement)
    assert any(where in place for place in found_in(file).lost[kind])
    before = contents(file)
    others = tuple(other for other in Loss if other != kind)
    with pytest.raises(takeover.LossNotAccepted, match=f"--accept {kind}"):
        take_over(file, Settings(accepted=others))
    assert contents(file) == before
    take_over(file, Settings(accepted=(kind, *others)))
    assert schema.current(file) == SCHEMA_VERSION


def test_odd_values_become_what_readers_of_json_take(file: str) -> None:
    text = '{"a": NaN, "b": [-Infinity, 1e999], "c": 18446744073709551616, "d": 18446744073709551615, "e": "\\ud800"}'
    change(file, f"UPDATE nodes SET extra = '{text}' WHERE id = 1")
    take_over(file, Settings(accepted=tuple(Loss)))
    assert json.loads(one(file, "SELECT extra FROM nodes WHERE id = 1")) == {
        "a": None,
        "b": [None, None],
        "c": "18446744073709551616",
        "d": 18446744073709551615,
        "e": "?",
    }


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE nodes SET extra = '{' WHERE id = 1", "extra is no JSON"),
        ("UPDATE nodes SET extra = '[1]' WHERE id = 1", "extra is no JSON object"),
        ("UPDATE nodes SET maintenance = 7 WHERE id = 1", "maintenance is 7"),
    ],
)
def test_what_cannot_be_read_has_to_be_repaired_first(file: str, statement: str, said: str) -> None:
    change(file, statement)
    with pytest.raises(takeover.NeedsRepair, match=said):
        take_over(file, Settings(accepted=tuple(Loss)))
    assert takeover.DONE != schema.current(file) == recorded(NEWEST).revision


def test_values_that_older_releases_left_empty_are_filled_in(file: str) -> None:
    change(
        file,
        "UPDATE nodes SET maintenance = NULL, retired = NULL, provision_state = NULL WHERE id = 1",
        "UPDATE ports SET pxe_enabled = NULL, is_smartnic = NULL",
        "UPDATE node_history SET created_at = NULL",
    )
    changed = found_in(file).changed
    assert changed["nodes.maintenance without a value becomes false"] == 1
    assert changed["ports.pxe_enabled without a value becomes true"] == 3
    take_over(file)
    assert one(file, "SELECT provision_state FROM nodes WHERE id = 1") == "available"
    assert one(file, "SELECT count(*) FROM ports WHERE pxe_enabled AND NOT is_smartnic") == 3


def test_nodes_of_the_standalone_inspector_are_inspected_by_the_agent_if_only_that_is_enabled(file: str) -> None:
    change(file, "UPDATE nodes SET inspect_interface = 'inspector' WHERE provision_state IN ('enroll', 'inspect wait')")
    take_over(file, Settings(AS_RECORDED.accepted, inspector_to_agent=True))
    with engine_of(file) as engine, engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT DISTINCT provision_state, inspect_interface FROM nodes WHERE inspect_interface = 'inspector'"
        )
        assert rows.all() == [("inspect wait", "inspector")]


def test_the_ramdisk_of_a_node_under_inspection_is_still_recognised(file: str) -> None:
    take_over(file)
    waiting = one(file, "SELECT id FROM nodes WHERE provision_state = 'inspect wait'")
    assert one(file, f"SELECT address FROM node_bmc_addresses WHERE node_id = {waiting}") == "192.0.2.7"


def test_a_table_of_another_program_in_our_place_stops_it(file: str) -> None:
    change(file, "CREATE TABLE bmc_logins (a INTEGER)")
    with pytest.raises(takeover.InTheWay, match="bmc_logins"):
        take_over(file)


def test_the_way_back_does_not_lose_what_was_written_unless_it_may(file: str) -> None:
    before = contents(file)
    take_over(file)
    store = connect(file)
    store.nodes.create({"driver": "fake-hardware"})
    store.close()
    with engine_of(file) as engine:
        begun = TakeOver(engine, quiet)
        with pytest.raises(takeover.WrittenSince, match="nodes.*--accept written"):
            begun.go_back([])
        begun.go_back(["written"])
    assert contents(file) == before


def test_a_row_that_was_not_stored_as_it_was_read_is_found_in_the_end(file: str) -> None:
    before = contents(file)

    def interfere(text: str) -> None:
        if text == "Step 'checking' ...":
            change(file, "UPDATE nodes SET description = 'other' WHERE id = 3")

    with pytest.raises(takeover.Differs, match=r"1 rows of nodes \(key 3\).*`ironic-dbsync return_to_reference`"):
        take_over(file, say=interfere)
    store = connect(file)
    with pytest.raises(WorkUnfinished, match="run `ironic-dbsync upgrade`, which goes on with its take-over"):
        require_current(store)
    store.close()
    with engine_of(file) as engine:
        TakeOver(engine, quiet).go_back([])
    assert contents(file) == before


def test_a_copy_goes_neither_into_half_of_a_take_over_nor_into_a_whole_one(file: str, tmp_path: Path) -> None:
    source = engines.create(f"sqlite:///{tmp_path}/source.sqlite", engines.PoolOptions())
    schema.upgrade(f"sqlite:///{tmp_path}/source.sqlite")
    assert killed_at(file, "commit", 5) is False
    with engine_of(file) as engine:
        assert not is_filled(engine)
        with pytest.raises(TargetRefused, match="is half of a take-over of another source: 9fb44677ef15"):
            list(transfer(Origin.of(source), engine, "copy", "run it again."))
    take_over(file)
    with engine_of(file) as engine:
        assert is_filled(engine)
        with pytest.raises(TargetRefused, match="has tables already"):
            list(transfer(Origin.of(source), engine, "copy", "run it again."))
    source.dispose()


def test_without_kept_tables_there_is_no_way_back(file: str) -> None:
    take_over(file)
    with engine_of(file) as engine:
        begun = TakeOver(engine, quiet)
        begun.drop()
        for act in (begun.drop, lambda: begun.go_back([])):
            with pytest.raises(takeover.NothingAside, match="nothing to"):
                act()


def test_two_upgrades_at_once_follow_each_other(empty: str) -> None:
    said: list[str] = []
    with engine_of(empty) as engine, engine_of(empty) as other:

        def come_second() -> None:
            with locked(other, 30, said.append):
                pass

        with locked(engine, 0, said.append):
            with pytest.raises(DatabaseLocked), locked(other, 0.1, said.append):
                pass
            waiting = threading.Thread(target=come_second)
            waiting.start()
        waiting.join(20)
        assert not waiting.is_alive()
    assert said and "waits for its end" in said[0]


def test_a_rehearsal_leaves_the_database_as_it_was(file: str, tmp_path: Path) -> None:
    before = (tmp_path / "reference.sqlite").read_bytes()
    scratch = f"sqlite:///{tmp_path}/scratch.sqlite"
    with engine_of(file) as engine, engine_of(scratch) as to:
        with engine.connect() as connection:
            takeover.copy_tables(connection, to)
        with engine.connect() as connection, pytest.raises(takeover.NotEmpty, match="scratch"):
            takeover.copy_tables(connection, to)
    take_over(scratch)
    assert compare(scratch, recorded(NEWEST)) == []
    assert (tmp_path / "reference.sqlite").read_bytes() == before


def test_a_rehearsal_may_use_another_kind_of_database(empty_server: str, file: str) -> None:
    with engine_of(file) as engine, engine_of(empty_server) as to, engine.connect() as connection:
        takeover.copy_tables(connection, to)
    take_over(empty_server)
    assert compare(empty_server, recorded(NEWEST)) == []


def test_wal_is_turned_on_once_the_file_is_ours(file: str, tmp_path: Path) -> None:
    take_over(file)
    connect(file).engine.connect().close()
    with sqlite3.connect(tmp_path / "reference.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)

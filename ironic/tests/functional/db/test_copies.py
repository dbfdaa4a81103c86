"""A database goes to another place and back: every row of every table, between all kinds, killed anywhere."""

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from ironic.db import connect, engines, require_current, row_copy, schema
from ironic.db.database_work import WORK_TABLE
from ironic.db.exclusive_use import DatabaseLocked, locked
from ironic.db.row_comparison import Compared
from ironic.db.row_copy import Copied
from ironic.db.schema_version import WorkUnfinished
from ironic.db.tables import metadata
from ironic.db.transfer import Origin, RowRefused, RowsDiffer, TargetRefused, transfer
from ironic.tests.databases import database_with_tables, empty_database
from ironic.tests.filled_database import fill, stored
from ironic.tests.suites.db.samples import node

KINDS = ("sqlite", "mariadb", "postgresql")


@pytest.fixture(scope="module", params=KINDS)
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return a database with rows in every table."""
    with database_with_tables(request.param, tmp_path_factory.mktemp("source")) as url:
        engine = engines.create(url, engines.PoolOptions())
        fill(engine, {"nodes": 11, "node_history": 23})
        yield engine
        engine.dispose()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return an SQLite file with rows in every table."""
    with database_with_tables("sqlite", tmp_path_factory.mktemp("file")) as url:
        engine = engines.create(url, engines.PoolOptions())
        fill(engine, {"nodes": 11, "node_history": 23})
        yield engine
        engine.dispose()


@pytest.fixture
def target(empty: str) -> Iterator[Engine]:
    """Return an empty database of each kind."""
    engine = engines.create(empty, engines.PoolOptions())
    yield engine
    engine.dispose()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_copy, "_MOST_ROWS", 4)


def copy(source: Engine, target: Engine) -> list[Copied | Compared]:
    return list(transfer(Origin.of(source), target, "copy", "run it again."))


def is_usable(engine: Engine) -> bool:
    store = connect(engine.url.render_as_string(hide_password=False))
    try:
        require_current(store)
    except WorkUnfinished as error:
        assert str(error).endswith("is not complete, so that it can't be used: run it again.")
        return False
    finally:
        store.close()
    return True


def test_every_table_that_is_declared_has_rows_here(source: Engine) -> None:
    rows = dict(stored(source))
    assert rows.keys() == metadata.tables.keys()
    assert [name for name, found in rows.items() if len(found) < 5] == []


def test_all_rows_arrive_and_new_ones_get_numbers_of_their_own(source: Engine, target: Engine) -> None:
    steps = copy(source, target)
    assert [step for step in steps if isinstance(step, Compared) and step.differences] == []
    assert list(stored(target)) == list(stored(source))
    assert is_usable(target)
    store = connect(target.url.render_as_string(hide_password=False))
    assert node(store).id == 12
    assert store.nodes.get(1).uuid.startswith("1-é😀")
    store.close()
    with target.connect() as connection:
        assert {*sa.inspect(connection).get_table_names()} == {*metadata.tables, "alembic_version"}


@pytest.mark.parametrize("limit", ["_MOST_VALUES", "_MOST_CHARACTERS"])
def test_large_rows_get_statements_of_their_own(
    file: Engine, empty_server: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_copy, limit, 1)
    target = engines.create(empty_server, engines.PoolOptions())
    sent: list[str] = []
    sa.event.listen(target, "before_cursor_execute", lambda *arguments: sent.append(arguments[2].split(" (")[0]))
    copy(file, target)
    assert sent.count("INSERT INTO nodes") == 11
    assert list(stored(target)) == list(stored(file))
    target.dispose()


def killed(source: Engine, target: Engine, *, statement: int = 0, batch: int = 0) -> bool:
    """Copy in a process that is killed before a statement to the target, or after a batch, and return true.

    Return false if it has ended before.
    """
    # A connection belongs to one process.
    for engine in (source, target):
        engine.dispose()

    def child() -> None:
        statements, batches = count(1), count(1)

        def look(*_: object) -> None:
            if next(statements) == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        sa.event.listen(target, "before_cursor_execute", look)
        for step in transfer(Origin.of(source), target, "copy", "run it again."):
            if isinstance(step, Copied) and not step.is_complete and next(batches) == batch:
                os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


# How many statements to the target there are differs by kind, some 250. A server takes seconds to make the tables.
POINTS: Mapping[str, Sequence[Sequence[int]]] = {
    "sqlite": [range(1, 1000, 40), range(21, 1000, 40)],
    "mariadb": [(2, 60, 170), (20, 120, 230)],
    "postgresql": [(2, 60, 170), (20, 120, 230)],
}


@pytest.mark.battery
@pytest.mark.parametrize("part", range(2))
def test_killed_before_any_statement_it_is_no_database_for_a_service_and_the_same_command_ends_it(
    file: Engine, target: Engine, tmp_path: Path, part: int
) -> None:
    kind = {"mysql": "mariadb"}.get(target.dialect.name, target.dialect.name)
    points = POINTS[kind][part]
    ends = 0
    for statement in points:
        with empty_database(kind, tmp_path) as url:
            engine = engines.create(url, engines.PoolOptions())
            was_killed = killed(file, engine, statement=statement)
            with engine.connect() as connection:
                names = sa.inspect(connection).get_table_names()
            engine.dispose()
            if was_killed and "alembic_version" in names:
                assert WORK_TABLE.name not in names or not is_usable(engine)
                assert WORK_TABLE.name in names or list(stored(engine)) == list(stored(file))
            if was_killed:
                copy(file, engine)
            assert list(stored(engine)) == list(stored(file))
            assert is_usable(engine)
            engine.dispose()
            ends += not was_killed
        if ends:
            break
    assert ends == (kind == "sqlite")


def test_a_copy_that_is_killed_again_and_again_goes_on_where_it_was(file: Engine, target: Engine) -> None:
    copied: list[int] = []
    while killed(file, target, batch=7):
        with target.connect() as connection:
            copied.append(connection.execute(sa.select(sa.func.sum(row_copy.PROGRESS.c.copied))).scalar_one())
        assert len(copied) < 40
    assert len(copied) > 5 and copied == sorted(set(copied))
    assert list(stored(target)) == list(stored(file))


def test_what_was_written_meanwhile_is_found_and_the_next_run_begins_anew(file: Engine, target: Engine) -> None:
    steps = transfer(Origin.of(file), target, "copy", "run it again.")
    for step in steps:
        if isinstance(step, Copied) and step.is_complete and step.table == "nodes":
            break
    store = connect(file.url.render_as_string(hide_password=False))
    late = node(store)
    store.nodes.update(3, {"name": "changed"})
    try:
        with pytest.raises(RowsDiffer) as error:
            list(steps)
        assert f"2 rows of nodes (key 3, {late.id})" in str(error.value)
        assert "it begins anew" in str(error.value)
        assert not is_usable(target)
        copy(file, target)
        assert list(stored(target)) == list(stored(file))
    finally:
        store.nodes.delete(late.id)
        store.nodes.update(3, {"name": None})
        store.close()


def test_a_row_whose_owner_came_too_late_is_refused_and_the_next_run_begins_anew(file: Engine, target: Engine) -> None:
    first = transfer(Origin.of(file), target, "copy", "run it again.")
    for step in first:
        if isinstance(step, Copied) and step.is_complete and step.table == "nodes":
            break
    first.close()
    store = connect(file.url.render_as_string(hide_password=False))
    late = node(store)
    store.traits.replace(late.id, ["CUSTOM_LATE"])
    try:
        with target.begin() as connection:
            # As if the nodes had been complete.
            connection.execute(
                sa.update(row_copy.PROGRESS).where(row_copy.PROGRESS.c.table_name == "nodes").values(position="[99]")
            )
        with pytest.raises(RowRefused, match="refuses a row of sqlite"):
            copy(file, target)
        copy(file, target)
        assert list(stored(target)) == list(stored(file))
    finally:
        store.nodes.delete(late.id)
        store.close()


def test_of_two_copies_onto_one_target_the_second_is_refused(file: Engine, target: Engine) -> None:
    steps = transfer(Origin.of(file), target, "copy", "run it again.")
    next(steps)
    second = engines.create(target.url.render_as_string(hide_password=False), engines.PoolOptions())
    with pytest.raises(DatabaseLocked, match="Another `ironic-dbsync` is at work"):
        copy(file, second)
    second.dispose()
    list(steps)
    assert list(stored(target)) == list(stored(file))


def test_the_lock_ends_with_its_process(target: Engine) -> None:
    url = target.url.render_as_string(hide_password=False)
    target.dispose()

    def child() -> None:
        with locked(engines.create(url, engines.PoolOptions())):
            os.kill(os.getpid(), signal.SIGKILL)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    with locked(target):
        pass


def test_a_target_that_is_not_empty_is_left_as_it_is(file: Engine, target: Engine) -> None:
    with target.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE other (id INTEGER)")
        connection.exec_driver_sql("INSERT INTO other VALUES (5)")
    with pytest.raises(TargetRefused, match=r"has tables already \(other \.\.\.\)"):
        copy(file, target)
    with target.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["other"]
        assert connection.exec_driver_sql("SELECT id FROM other").all() == [(5,)]


@pytest.mark.parametrize("content", ["a database", "a text"])
def test_the_file_of_another_program_stays_byte_for_byte(file: Engine, tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.sqlite"
    if content == "a text":
        path.write_text("no database\n" * 1000)
    else:
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE other (id)")
        other.close()
    before = path.read_bytes()
    engine = engines.create(f"sqlite:///{path}", engines.PoolOptions())
    with pytest.raises(TargetRefused, match="Nothing was changed there: name an empty database"):
        copy(file, engine)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["other.sqlite"]


def test_half_of_a_copy_is_gone_on_with_from_its_own_source_only(file: Engine, target: Engine, tmp_path: Path) -> None:
    steps = transfer(Origin.of(file), target, "copy", "run it again.")
    next(steps)
    steps.close()
    with database_with_tables("sqlite", tmp_path) as url:
        other = engines.create(url, engines.PoolOptions())
        with pytest.raises(TargetRefused, match="is half of a copy of another source: sqlite:///"):
            copy(other, target)
        other.dispose()
    for act in (lambda url: schema.upgrade(url), lambda url: schema.stamp(url, "head")):
        with pytest.raises(WorkUnfinished, match="run it again"):
            act(target.url.render_as_string(hide_password=False))
    copy(file, target)
    assert is_usable(target)

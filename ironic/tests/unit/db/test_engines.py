"""How the service talks to SQLite, and what it takes from the options."""

import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from ironic.db import SchemaOutdated, Store, connect, engines, require_current
from ironic.tests.databases import sqlite_store
from ironic.tests.suites.db.samples import node


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 10_000)]
)
def test_every_connection_is_tuned(tmp_path: Path, pragma: str, value: str | int) -> None:
    made = connect(f"sqlite:///{tmp_path}/new.sqlite")
    with made.reading() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value
    made.close()


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    made = connect(f"sqlite:///{path}")
    with made.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a)")
        modes = {stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()}
    made.close()
    assert modes == {0o600}


def test_a_directory_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        connect(f"sqlite:///{tmp_path}/absent/ironic.sqlite")


def test_a_driver_that_is_not_installed_is_named() -> None:
    with pytest.raises(ValueError, match=r"needs Python module cx_Oracle: pip install PyMySQL "):
        connect("oracle+cx_oracle://db.example/ironic")


def test_a_reader_is_not_kept_waiting_by_a_writer(store: Store) -> None:
    counted: list[int] = []
    with store.writing():
        node(store)
        thread = threading.Thread(target=lambda: counted.append(store.nodes.count()))
        thread.start()
        thread.join(5)
    assert counted == [0]


def test_another_process_that_writes_is_waited_for_as_long_as_said(store: Store) -> None:
    hurried = connect(str(store.engine.url), sqlite_wait=0)
    with store.writing():
        node(store)
        with pytest.raises(sa.exc.OperationalError, match="locked"):
            node(hurried)
    node(hurried)
    hurried.close()
    assert store.nodes.count() == 2


def test_a_transaction_sees_one_state_of_the_database(store: Store, other: Store) -> None:
    node(store)
    with store.reading():
        assert store.nodes.count() == 1
        node(other)
        assert store.nodes.count() == 1
    assert store.nodes.count() == 2


def test_the_store_of_the_options(conf: Callable[..., None], tmp_path: Path) -> None:
    sqlite_store(tmp_path).close()
    conf(database__connection=f"sqlite:///{tmp_path}/ironic.sqlite", database__max_pool_size=3)
    conf(database__sqlite_max_wait_for_retry=4)
    made = Store.from_conf()
    with made.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 4000
    assert isinstance(made.engine.pool, sa.QueuePool) and made.engine.pool.size() == 3
    made.close()


@pytest.mark.parametrize("query", ["", "?charset=utf8"])
def test_servers_of_mysql_are_spoken_to_in_all_of_unicode(query: str) -> None:
    made = engines.create(f"mysql+pymysql://root@127.0.0.1/ironic{query}", engines.PoolOptions())
    assert made.url.query == {"charset": "utf8mb4"}


def test_a_database_without_the_schema_is_found_out(tmp_path: Path) -> None:
    made = connect(f"sqlite:///{tmp_path}/empty.sqlite")
    with pytest.raises(
        SchemaOutdated, match="sqlite:///.*empty.sqlite is at schema version none.*ironic-dbsync upgrade"
    ):
        require_current(made)
    with made.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('9fb44677ef15')")
    with pytest.raises(SchemaOutdated, match="9fb44677ef15"):
        require_current(made)
    made.close()

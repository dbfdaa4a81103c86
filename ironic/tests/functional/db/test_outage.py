"""A database server that is away: requests wait for it where that helps, the log has it once, clients get an error."""

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

from ironic.db import Store, connect, schema
from ironic.db.transactions import DatabaseUnreachable
from ironic.tests.databases import empty_database


@pytest.fixture
def nowhere() -> str:
    """Return the URL of a server that does not run."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    return f"mysql+pymysql://root@127.0.0.1:{port}/ironic"


def seconds_until_refused(store: Store) -> float:
    began = time.monotonic()
    with pytest.raises(DatabaseUnreachable) as raised:
        store.nodes.find()
    assert raised.value.status == 503
    return time.monotonic() - began


def test_who_can_not_wait_is_told_at_once(nowhere: str) -> None:
    assert seconds_until_refused(connect(nowhere)) < 0.5


def test_who_can_wait_waits_but_not_for_ever(nowhere: str) -> None:
    patient = connect(nowhere, retry_seconds=1)
    assert 1 <= seconds_until_refused(patient) < 3
    with patient.without_retries():
        assert seconds_until_refused(patient) < 0.5


def test_an_outage_is_logged_once_without_credentials(nowhere: str, caplog: pytest.LogCaptureFixture) -> None:
    store = connect(nowhere.replace("root@", "root:canary@"))
    for _ in range(3):
        seconds_until_refused(store)
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "can't be reached" in record.getMessage()
    assert "canary" not in caplog.text


def cut(store: Store, killer: Store) -> None:
    """End the connection of the transaction that is open."""
    number = store.require_writing().exec_driver_sql(OWN_NUMBER[store.dialect]).scalar_one()
    with killer.writing() as connection:
        connection.exec_driver_sql(KILL[store.dialect].format(number))


@pytest.fixture(params=["mariadb", "postgresql"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Return a patient store and another one over the same database."""
    with empty_database(request.param, tmp_path) as url:
        schema.upgrade(url)
        store, other = connect(url, retry_seconds=10), connect(url)
        yield store, other
        store.close()
        other.close()


def test_what_was_cut_off_before_its_commit_is_done_again(pair: tuple[Store, Store]) -> None:
    store, other = pair
    times: list[int] = []

    def create(_connection: object) -> None:
        times.append(len(times))
        store.nodes.create({"driver": "fake-hardware"})
        if len(times) == 1:
            cut(store, other)
        store.nodes.count()

    store.run(create)
    assert (times, store.nodes.count()) == ([0, 1], 1)


def test_reading_that_was_cut_off_is_done_again(pair: tuple[Store, Store]) -> None:
    store, other = pair
    cuts = iter([True])

    def read(connection: Connection) -> int:
        if next(cuts, False):
            number = connection.exec_driver_sql(OWN_NUMBER[store.dialect]).scalar_one()
            with other.writing() as killer:
                killer.exec_driver_sql(KILL[store.dialect].format(number))
        return int(connection.exec_driver_sql("SELECT 7").scalar_one())

    assert store.read(read) == 7


def cutting_the_first_commit(store: Store, other: Store) -> AbstractContextManager[None]:
    """Have the next commit of this thread not be answered."""

    def announce(_created: object) -> bool:
        cut(store, other)
        return True

    return store.announcing(announce)


def test_what_was_cut_off_in_its_commit_is_done_again_only_if_twice_does_no_harm(pair: tuple[Store, Store]) -> None:
    store, other = pair
    held = store.nodes.reserve(store.nodes.create({"driver": "fake-hardware"}).id, "h1")
    held.name = "one"
    with cutting_the_first_commit(store, other):
        held.save()
    assert other.nodes.get(held.id).name == "one"
    held.name = "two"
    with cutting_the_first_commit(store, other):
        store.nodes.save_and_release(held)
    found = other.nodes.get(held.id)
    assert (found.name, found.reservation, held.held_by) == ("two", None, None)
    with cutting_the_first_commit(store, other), pytest.raises(DatabaseUnreachable):
        store.nodes.create({"driver": "fake-hardware"})
    assert other.nodes.count() == 1


def test_nobody_in_a_hurry_does_anything_again(pair: tuple[Store, Store]) -> None:
    store, other = pair
    with store.without_retries(), cutting_the_first_commit(store, other), pytest.raises(DatabaseUnreachable):
        store.run(lambda _: store.nodes.count(), repeatable=True)


KILL = {"mysql": "KILL {}", "postgresql": "SELECT pg_terminate_backend({})"}
OWN_NUMBER = {"mysql": "SELECT connection_id()", "postgresql": "SELECT pg_backend_pid()"}


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_connection_lost_in_the_middle_is_the_same_error(kind: str, tmp_path: Path) -> None:
    with empty_database(kind, tmp_path) as url:
        schema.upgrade(url)
        store, other = connect(url), connect(url)
        with pytest.raises(DatabaseUnreachable), store.writing() as connection:
            number = connection.exec_driver_sql(OWN_NUMBER[store.dialect]).scalar_one()
            with other.writing() as killer:
                killer.exec_driver_sql(KILL[store.dialect].format(number))
            store.nodes.find()
        assert store.nodes.find() == []
        store.close()
        other.close()

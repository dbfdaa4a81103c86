"""A database server that is away: waited for where it is worth it, told once, an error of ours to whoever asks."""

import logging
import socket
import time
from pathlib import Path

import pytest

from ironic.db import Store, connect, schema
from ironic.db.outage import DatabaseUnreachable
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
    patient = connect(nowhere, patience=1)
    assert 1 <= seconds_until_refused(patient) < 3
    with patient.in_a_hurry():
        assert seconds_until_refused(patient) < 0.5


def test_an_outage_is_logged_once_without_credentials(nowhere: str, caplog: pytest.LogCaptureFixture) -> None:
    store = connect(nowhere.replace("root@", "root:canary@"))
    for _ in range(3):
        seconds_until_refused(store)
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "can't be reached" in record.getMessage()
    assert "canary" not in caplog.text


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

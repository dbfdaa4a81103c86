"""The database of a process: that of its program, or of the options at the first use."""

from pathlib import Path

import pytest

from ironic.command import wiring
from ironic.conf import CONF
from ironic.services import process_store
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store


def test_a_tool_gets_the_database_of_the_options_once(
    tmp_path: Path, conf: Setter, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf(database__connection=f"sqlite:///{tmp_path}/of_a_tool.sqlite")
    monkeypatch.setattr(process_store, "_OF_PROCESS", [])
    found = process_store.database()
    assert found.store.engine.url.database == f"{tmp_path}/of_a_tool.sqlite"
    assert process_store.database() is found
    found.store.close()


def test_that_of_the_program_comes_first(tmp_path: Path, conf: Setter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_store, "_OF_PROCESS", [])
    conf(database__connection="sqlite://")
    own = process_store.from_conf(CONF)._replace(store=sqlite_store(tmp_path))
    process_store.use(own)
    assert process_store.database() is own
    own.store.close()


def test_a_program_notes_its_own_when_it_is_wired(conf: Setter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_store, "_OF_PROCESS", [])
    conf(database__connection="sqlite://")
    wired = wiring._store_and_ring(CONF)
    assert process_store.database() is wired
    wired.store.close()

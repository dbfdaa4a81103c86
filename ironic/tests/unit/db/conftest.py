"""A store over an SQLite file, and a second one over the same file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.db import Store, connect
from ironic.tests.databases import sqlite_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return an empty store."""
    made = sqlite_store(tmp_path)
    yield made
    made.close()


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """Return what another process would have: a store of its own over the same database."""
    made = connect(store.engine.url.render_as_string(hide_password=False))
    yield made
    made.close()

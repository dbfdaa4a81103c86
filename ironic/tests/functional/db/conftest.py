"""A store on each kind of database the service runs on. A server that does not answer is a failure, not a skip."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from ironic.db import Store, connect, schema
from ironic.db.tables import metadata
from ironic.tests.databases import empty_database

ENGINES = ("sqlite", "mariadb", "postgresql")


@pytest.fixture(scope="session", params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a database that has been brought up to date by the migrations."""
    with empty_database(request.param, tmp_path_factory.mktemp("database")) as url:
        schema.upgrade(url)
        yield url


@pytest.fixture(scope="session")
def engine(database: str) -> Iterator[Engine]:
    """Return the engine that stores share, as each engine compiles all statements anew."""
    made = connect(database)
    yield made.engine
    made.close()


@pytest.fixture
def store(engine: Engine) -> Iterator[Store]:
    """Return an empty store."""
    made = Store(engine)
    yield made
    with made.writing() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())


@pytest.fixture
def other(database: str, store: Store) -> Iterator[Store]:
    """Return what another process would have: a store of its own over the same database."""
    made = connect(database)
    yield made
    made.close()


@pytest.fixture(params=ENGINES)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database without tables."""
    with empty_database(request.param, tmp_path) as url:
        yield url


@pytest.fixture(params=ENGINES[1:])
def empty_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database without tables on a server."""
    with empty_database(request.param, tmp_path) as url:
        yield url


@pytest.fixture(params=["mariadb", "postgresql"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Return an empty store on a server."""
    with empty_database(request.param, tmp_path) as url:
        schema.upgrade(url)
        made = connect(url)
        yield made
        made.close()

"""Everything a store must do, on SQLite; the same runs on servers in functional/db."""

from ironic.tests.suites.db import EverySuite


class TestSqlite(EverySuite):
    pass

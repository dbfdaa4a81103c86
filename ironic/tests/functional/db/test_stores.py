"""Everything a store must do, on every kind of database."""

from ironic.tests.suites.db import EverySuite


class TestStores(EverySuite):
    pass

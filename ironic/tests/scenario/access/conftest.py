"""One Keystone and one service for all tests of this suite; whoever stops Keystone starts it again."""

from collections.abc import Iterator

import pytest

from ironic.tests.scenario.access.cloud import Cloud, cloud


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """Run a service that trusts a Keystone."""
    with cloud(tmp_path_factory.mktemp("access")) as found:
        yield found

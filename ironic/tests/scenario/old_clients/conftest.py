"""A service that serves the API of the standalone inspector, and the stock clients of that."""

from collections.abc import Iterator
from typing import Any

import ironic_inspector_client
import pytest

from ironic.tests.scenario.clients.exercises import claimed
from ironic.tests.scenario.old_clients.command_line import Openstack
from ironic.tests.scenario.old_clients.inspected_site import Site, open_site


@pytest.fixture(scope="session")
def running_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run one service for all tests of this directory that a process runs."""
    with open_site(tmp_path_factory.mktemp("old")) as opened:
        yield opened


@pytest.fixture
def site(running_site: Site) -> Iterator[Site]:
    """Return the running service, with nothing in it."""
    yield running_site
    running_site.clear()


@pytest.fixture
def openstack(site: Site, request: pytest.FixtureRequest) -> Iterator[Openstack]:
    """Return the command line; a test has to run what it says it runs."""
    shell = Openstack(site.old_url)
    yield shell
    missing = set(claimed(request.function)) - shell.exercised
    assert not missing, f"never ended well in this test: {sorted(missing)}"


@pytest.fixture
def client(site: Site) -> Any:
    """Return the library, as a script uses it."""
    return ironic_inspector_client.ClientV1(inspector_url=site.old_url)

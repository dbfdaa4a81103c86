"""The service that the clients talk to, and the clients."""

from collections.abc import Iterator

import pytest
from openstack.connection import Connection

from ironic.tests.functional.live.conftest import tls as tls
from ironic.tests.scenario.clients.exercises import claimed
from ironic.tests.scenario.clients.lab import Lab, open_lab
from ironic.tests.scenario.clients.sdk import Recorder, connection
from ironic.tests.scenario.clients.shell import Shell


@pytest.fixture(scope="session")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Run one service for all tests of this directory that a process runs."""
    with open_lab(tmp_path_factory.mktemp("lab")) as opened:
        yield opened


@pytest.fixture
def lab(running_lab: Lab) -> Iterator[Lab]:
    """Return the running service, with nothing in it."""
    yield running_lab
    running_lab.clear()


@pytest.fixture
def baremetal(lab: Lab, request: pytest.FixtureRequest) -> Iterator[Shell]:
    """Return the command line."""
    shell = Shell(lab.url)
    yield shell
    _check(request, shell.exercised)


@pytest.fixture
def cloud(lab: Lab) -> Iterator[Connection]:
    """Return a connection of the SDK."""
    with connection(lab.url) as opened:
        yield opened


@pytest.fixture
def sdk(cloud: Connection, request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """Return the SDK's methods for bare metal."""
    recorder = Recorder(cloud.baremetal)
    yield recorder
    _check(request, recorder.exercised)


@pytest.fixture
def machines(cloud: Connection, request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """Return the SDK's cloud layer, which has methods of its own for machines."""
    recorder = Recorder(cloud)
    yield recorder
    _check(request, recorder.exercised)


def _check(request: pytest.FixtureRequest, exercised: set[str]) -> None:
    """See that a test has run what it says it runs."""
    missing = set(claimed(request.function)) - exercised
    assert not missing, f"never ended well in this test: {sorted(missing)}"

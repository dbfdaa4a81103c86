"""The service beside a real standalone inspector, which it tells to inspect machines."""

from collections.abc import Iterator

import pytest

from ironic.tests.live_service import Options, all_in_one, free_port, write_options
from ironic.tests.repository import tool
from ironic.tests.scenario.inspector.standalone_site import StandaloneSite


@pytest.fixture(scope="session")
def running_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneSite]:
    """Run both for all tests of this directory."""
    directory, port, other = tmp_path_factory.mktemp("inspector"), free_port(), free_port()
    options: Options = {
        "DEFAULT": {"enabled_inspect_interfaces": "agent,inspector,fake"},
        "inspector": {
            "endpoint_override": f"http://127.0.0.1:{other}",
            "status_check_period": 1,
            "require_managed_boot": False,
        },
        "conductor": {"sync_power_state_interval": 0},
    }
    configuration = [
        tool("run").configure(directory / "service", port),
        write_options(directory / "standalone.conf", options),
    ]
    with (
        all_in_one(configuration, directory / "service" / "ironic.log", port) as service,
        tool("inspector_server").serving(directory, other, service.url) as inspector,
    ):
        yield StandaloneSite(service, inspector.url, inspector)
    assert "Traceback" not in service.log


@pytest.fixture
def site(running_site: StandaloneSite) -> Iterator[StandaloneSite]:
    """Return both, with nothing in the service."""
    yield running_site
    running_site.clear()

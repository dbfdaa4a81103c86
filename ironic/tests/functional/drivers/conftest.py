"""BMCs for the tests of this directory: started once, a fresh machine for each test."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.ipmi_bmc import IpmiBmc, ipmi_sim
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

MACHINES = 120

_next_machine = itertools.count()


@pytest.fixture(scope="package")
def bmc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedfishBmc]:
    """Run a BMC without login whose machines react at once."""
    with redfish_bmc(tmp_path_factory.mktemp("bmc"), count=MACHINES) as running:
        yield running


@pytest.fixture(scope="package")
def guarded_bmc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedfishBmc]:
    """Run a BMC behind TLS that requires a login."""
    with redfish_bmc(tmp_path_factory.mktemp("guarded"), user="operator", tls=True) as running:
        yield running


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IpmiBmc]:
    """Run an IPMI BMC, the same for the tests of a module."""
    with ipmi_sim(tmp_path_factory.mktemp("sim") / "bmc") as running:
        yield running


@pytest.fixture
def task(bmc: RedfishBmc) -> Work:
    """Return a task on a machine that no other test has touched; it is off."""
    return work_on(driver="redfish", driver_info=bmc.driver_info(next(_next_machine)))


@pytest.fixture(autouse=True)
def impatient(conf: Callable[..., Any]) -> None:
    """Don't wait for a BMC that is not there."""
    conf(redfish__connection_attempts=2, redfish__connection_retry_interval=1, redfish__connect_timeout=3)


@pytest.fixture
def slow_bmc(tmp_path: Path) -> Iterator[RedfishBmc]:
    """Run a BMC whose machine needs far longer for a power action than any test waits."""
    with redfish_bmc(tmp_path, delay=60) as running:
        yield running

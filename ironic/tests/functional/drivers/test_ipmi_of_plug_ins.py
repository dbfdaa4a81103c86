"""Requests that plug-ins of third parties send to IPMI BMCs, with the real ipmitool."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import IPMIFailure
from ironic.drivers.modules import ipmitool
from ironic.tests.ipmi_bmc import IpmiBmc, ipmi_sim
from ironic.tests.unit.drivers.machine import work_on


@pytest.fixture(autouse=True)
def no_pauses(conf: Callable[..., Any]) -> None:
    conf(ipmi__min_command_interval=0, ipmi__command_retry_timeout=30)


@pytest.fixture(scope="module")
def bmc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IpmiBmc]:
    with ipmi_sim(tmp_path_factory.mktemp("sim") / "bmc") as running:
        yield running


def test_bytes_are_sent_and_the_answer_comes_back(bmc: IpmiBmc) -> None:
    task = work_on(driver="ipmi", driver_info=bmc.driver_info())
    out, err = ipmitool.send_raw(task, "0x06 0x01")
    assert len(out.split()) > 10 and err == ""
    with pytest.raises(IPMIFailure):
        ipmitool.send_raw(task, "0x06 0x7f")
    with pytest.raises(InvalidParameterValue, match="numbers from 0 to 255"):
        ipmitool.send_raw(task, "0x06 -f")


def test_the_sensor_records_are_written_to_a_file(bmc: IpmiBmc, tmp_path: Path) -> None:
    task = work_on(driver="ipmi", driver_info=bmc.driver_info())
    ipmitool.dump_sdr(task, str(tmp_path / "sdr"))
    assert (tmp_path / "sdr").stat().st_size > 0


def test_bridges_and_properties(bmc: IpmiBmc) -> None:
    assert not ipmitool.is_bridging_enabled(work_on(driver_info=bmc.driver_info()).node)
    target = {"ipmi_bridging": "single", "ipmi_target_channel": "0", "ipmi_target_address": "0x20"}
    assert ipmitool.is_bridging_enabled(work_on(driver_info=bmc.driver_info(**target)).node)
    assert "ipmi_address" in ipmitool.COMMON_PROPERTIES

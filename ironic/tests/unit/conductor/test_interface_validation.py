"""Validations that a user asks for try the BMC of the node; those that operations begin with do not."""
# ruff: noqa: F811 - fixtures that are imported are named again by those who use them

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ironic.conductor import interface_validation
from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import states
from ironic.drivers.contract.interfaces.base_interface import BaseInterface, Finding
from ironic.drivers.modules.fake import FakeManagement, FakePower
from ironic.integrations import own_directories
from ironic.tests.unit.conductor.flows.conftest import bench, composed, store  # noqa: F401 - fixtures


class Survey:
    """Finds what a test says, and remembers which interfaces it was asked about."""

    def __init__(self) -> None:
        self.asked: list[set[str]] = []
        self.found: dict[str, Finding] = {}

    def findings(self, task: Any, interfaces: Mapping[str, BaseInterface]) -> Mapping[str, Finding]:
        self.asked.append(set(interfaces))
        return {kind: found for kind, found in self.found.items() if kind in interfaces}


@pytest.fixture
def survey(monkeypatch: pytest.MonkeyPatch) -> Survey:
    survey = Survey()
    for interface in (FakePower, FakeManagement):
        monkeypatch.setattr(interface, "survey", survey)
    return survey


@pytest.fixture
def busy() -> Iterator[None]:
    """Let other validations take all places."""
    places = interface_validation._surveys
    while places.acquire(blocking=False):
        pass
    yield
    for _ in range(interface_validation._MOST_SURVEYS):
        places.release()


def test_the_bmc_is_tried_once_for_all_interfaces(bench, survey):
    survey.found = {"power": Finding("no power")}
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node())
    assert survey.asked == [{"power", "management"}]
    assert answer["power"] == {"result": False, "reason": "no power"}
    assert answer["management"] == answer["deploy"] == {"result": True}


def test_what_few_nodes_need_is_a_remark(bench, survey):
    survey.found = {"power": Finding("no soft reboot", is_fault=False)}
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node())
    assert answer["power"] == {"result": True, "reason": "no soft reboot"}


@pytest.mark.parametrize("error", [InvalidParameterValue(err="no address"), ZeroDivisionError("no address")])
def test_a_bmc_that_can_not_be_tried_is_a_verdict_and_no_error(bench, survey, monkeypatch, error):
    def findings(task: Any, interfaces: Mapping[str, BaseInterface]) -> Mapping[str, Finding]:
        raise error

    monkeypatch.setattr(survey, "findings", findings)
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node())
    for kind in ("power", "management"):
        assert answer[kind]["result"] is False and "no address" in answer[kind]["reason"]
    assert answer["deploy"] == {"result": True}


def test_a_directory_that_can_not_be_written_is_a_fault(bench, monkeypatch, tmp_path, conf):
    (tmp_path / "file").touch()
    conf(pxe__tftp_master_path=str(tmp_path / "file" / "ramdisks"))
    monkeypatch.setattr(FakePower, "written_directories", lambda self: [own_directories.RAMDISKS])
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node())
    assert answer["power"]["result"] is False
    assert f"{tmp_path}/file/ramdisks ([pxe]tftp_master_path) can't be a directory" in answer["power"]["reason"]


def test_a_cache_that_is_turned_off_is_no_directory(bench, monkeypatch, tmp_path, conf):
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    conf(pxe__tftp_master_path=" ", pxe__tftp_root=str(tmp_path / "file"))
    monkeypatch.setattr(FakePower, "written_directories", lambda self: [own_directories.RAMDISKS])
    assert bench.endpoint.validate_interfaces(bench.context, bench.node())["power"]["result"] is True
    assert "tftp_root" in own_directories.explained(
        NotADirectoryError(20, "no directory", str(tmp_path / "file" / "a"))
    )


def test_an_interface_with_wrong_settings_is_not_tried(bench, survey):
    bench.script.answers["power.validate"] = ZeroDivisionError("oops")
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node("power"))
    assert "ZeroDivisionError" in answer["power"]["reason"]
    assert all("power" not in asked for asked in survey.asked)


@pytest.mark.parametrize("verb, state", [("deploy", states.AVAILABLE), ("provide", states.MANAGEABLE)])
def test_an_operation_does_not_try_the_bmc(bench, survey, verb, state):
    survey.found = {"power": Finding("no power")}
    bench.verb(bench.node(provision_state=state), verb)
    assert survey.asked == []


def test_few_validations_wait_for_bmcs_at_a_time(bench, survey, busy):
    answer = bench.endpoint.validate_interfaces(bench.context, bench.node())
    assert survey.asked == []
    assert answer["power"]["result"] is True
    assert "not tried" in answer["power"]["reason"]


def test_a_place_is_given_back(bench, survey):
    for _ in range(2 * interface_validation._MOST_SURVEYS):
        bench.endpoint.validate_interfaces(bench.context, bench.node())
    assert len(survey.asked) == 2 * interface_validation._MOST_SURVEYS

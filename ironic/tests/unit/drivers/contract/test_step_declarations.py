"""Steps as drivers declare them and as the engine gets them."""

import math
from typing import Any

import pytest

from ironic.core.bmc_readings import BootDevice
from ironic.core.errors import InvalidParameterValue
from ironic.drivers import base
from ironic.tests.unit.drivers.machine import Work, work_on

ARGS: dict[str, dict[str, Any]] = {
    "level": {"description": "How thoroughly.", "required": True},
    "note": {"description": "Anything."},
}


class Bare(base.ManagementInterface):
    """Management with nothing in it."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Any) -> None:
        pass

    def get_supported_boot_devices(self, task: Any) -> list[str]:
        return []

    def set_boot_device(self, task: Any, device: str, persistent: bool = False) -> None:
        pass

    def get_boot_device(self, task: Any) -> BootDevice:
        return {}

    def get_sensors_data(self, task: Any) -> dict[str, dict[str, dict[str, Any]]]:
        return {}


class Busy(Bare):
    """Steps of every kind, in no particular order."""

    @base.clean_step(priority=0)
    def rarely(self, task: Any) -> None:
        pass

    @base.clean_step(priority=1.5, abortable=True, argsinfo=ARGS, requires_ramdisk=False)
    @base.service_step(argsinfo=ARGS)
    def scrub(self, task: Any, level: int, note: str = "") -> str:
        return f"{level}{note}"

    @base.clean_step(priority=20)
    @base.deploy_step(priority=0)
    @base.verify_step(priority=3)
    def check(self, task: Any) -> None:
        pass

    @base.deploy_step(priority=100)
    def install(self, task: Any) -> str:
        return "wait call-back"

    def no_step(self, task: Any) -> None:
        raise AssertionError("never a step")


class Heir(Busy):
    """Takes one step away, changes one, inherits the others."""

    def check(self, task: Any) -> None:
        pass

    @base.clean_step(priority=99)
    def rarely(self, task: Any) -> None:
        pass


def names(steps: list[dict[str, Any]]) -> list[str]:
    return [step["step"] for step in steps]


@pytest.fixture
def task() -> Work:
    return work_on()


@pytest.mark.demand("S44")
def test_clean_steps_are_the_enabled_ones_highest_priority_first(task: Work) -> None:
    steps = Busy().get_clean_steps(task)
    assert names(steps) == ["check", "scrub"]
    assert all(list(step)[:3] == ["step", "priority", "interface"] for step in steps)
    assert steps[0] == {
        "step": "check",
        "priority": 20,
        "interface": "management",
        "abortable": False,
        "argsinfo": None,
        "requires_ramdisk": True,
    }


@pytest.mark.demand("S43", "S45")
def test_a_priority_may_be_a_float(task: Work) -> None:
    (scrub,) = [step for step in Busy().get_clean_steps(task) if step["step"] == "scrub"]
    assert scrub["priority"] == 1.5
    assert (scrub["abortable"], scrub["requires_ramdisk"], scrub["argsinfo"]) == (True, False, ARGS)


def test_the_engine_gets_all_steps_of_a_kind() -> None:
    assert names(Busy().all_steps("clean")) == ["check", "scrub", "rarely"]
    assert names(Busy().all_steps("deploy")) == ["install", "check"]
    assert names(Busy().all_steps("service")) == ["scrub"]
    assert names(Busy().all_steps("verify")) == ["check"]


@pytest.mark.parametrize(
    "kind, keys",
    [
        ("clean", {"step", "priority", "interface", "abortable", "argsinfo", "requires_ramdisk"}),
        ("deploy", {"step", "priority", "interface", "abortable", "argsinfo"}),
        ("service", {"step", "priority", "interface", "abortable", "argsinfo", "requires_ramdisk"}),
        ("verify", {"step", "priority", "interface"}),
    ],
)
def test_each_kind_has_its_keys(kind: Any, keys: set[str], task: Work) -> None:
    busy = Busy()
    assert [step.keys() for step in busy.all_steps(kind)] == [keys] * len(busy.all_steps(kind))
    if kind != "clean":
        assert getattr(busy, f"get_{kind}_steps")(task) == busy.all_steps(kind)


def test_only_deploy_steps_may_be_aborted_unless_told_otherwise() -> None:
    busy = Busy()
    assert busy.all_steps("deploy")[0]["abortable"] is True
    assert busy.all_steps("clean")[0]["abortable"] is False
    assert busy.all_steps("service")[0]["abortable"] is False


def test_steps_of_equal_priority_come_in_alphabetical_order() -> None:
    class Equal(Bare):
        @base.deploy_step(priority=5)
        def zebra(self, task: Any) -> None:
            pass

        @base.deploy_step(priority=5)
        def ant(self, task: Any) -> None:
            pass

        @base.deploy_step(priority=7)
        def mole(self, task: Any) -> None:
            pass

    assert names(Equal().all_steps("deploy")) == ["mole", "ant", "zebra"]


def test_a_subclass_inherits_changes_and_drops_steps(task: Work) -> None:
    assert names(Heir().get_clean_steps(task)) == ["rarely", "scrub"]
    assert Heir().all_steps("verify") == []
    assert names(Busy().get_clean_steps(task)) == ["check", "scrub"], "the parent stays as it was"


@pytest.mark.demand("S62")
def test_an_interface_without_steps_needs_no_code(task: Work) -> None:
    assert Bare().get_clean_steps(task) == []
    assert [Bare().all_steps(kind) for kind in ("clean", "deploy", "service", "verify")] == [[]] * 4


def test_who_changes_an_answer_changes_nothing_else(task: Work) -> None:
    busy = Busy()
    answer: Any = busy.get_clean_steps(task)
    answer[1]["argsinfo"]["level"]["description"] = "changed"
    answer[0]["priority"] = 1
    assert busy.get_clean_steps(task) != answer
    assert ARGS["level"]["description"] == "How thoroughly."


@pytest.mark.demand("S46")
def test_a_step_is_executed_with_its_arguments(task: Work) -> None:
    (step,) = [step for step in Busy().get_clean_steps(task) if step["step"] == "scrub"]
    assert Busy().execute_clean_step(task, {**step, "args": {"level": 3, "note": "!"}}) == "3!"
    assert Busy().execute_service_step(task, {"step": "scrub", "args": {"level": 4}}) == "4"


def test_what_a_step_returns_is_handed_on(task: Work) -> None:
    assert Busy().execute_deploy_step(task, {"step": "install", "args": None}) == "wait call-back"
    assert Busy().execute_clean_step(task, {"step": "check"}) is None
    Busy().execute_verify_step(task, {"step": "check"})


@pytest.mark.parametrize("name", ["no_step", "install", "validate", "__init__", "nothing"])
def test_only_a_clean_step_can_be_executed_as_one(task: Work, name: str) -> None:
    with pytest.raises(InvalidParameterValue, match=task.node.uuid):
        Busy().execute_clean_step(task, {"step": name})


@pytest.mark.parametrize(
    "declare",
    [
        lambda: base.clean_step(priority="10"),  # type: ignore[arg-type]
        lambda: base.clean_step(priority=True),
        lambda: base.clean_step(priority=math.nan),
        lambda: base.clean_step(priority=None),  # type: ignore[arg-type]
        lambda: base.deploy_step(priority=-1),
        lambda: base.verify_step(priority=-0.5),
        lambda: base.clean_step(priority=1, abortable="yes"),  # type: ignore[arg-type]
        lambda: base.clean_step(priority=1, requires_ramdisk=None),  # type: ignore[arg-type]
        lambda: base.deploy_step(priority=1, abortable=0),  # type: ignore[arg-type]
        lambda: base.service_step(priority="x"),  # type: ignore[arg-type]
        lambda: base.clean_step(priority=1, argsinfo=["level"]),  # type: ignore[arg-type]
        lambda: base.clean_step(priority=1, argsinfo={"level": "text"}),  # type: ignore[dict-item]
        lambda: base.clean_step(priority=1, argsinfo={"level": {}}),
        lambda: base.clean_step(priority=1, argsinfo={"level": {"description": ""}}),
        lambda: base.deploy_step(priority=1, argsinfo={"level": {"description": 5}}),
        lambda: base.service_step(argsinfo={"a": {"description": "x", "required": "no"}}),
        lambda: base.clean_step(priority=1, argsinfo={"a": {"description": "x", "type": "int"}}),
    ],
)
def test_a_mistake_in_a_declaration_shows_when_the_class_is_loaded(declare: Any) -> None:
    with pytest.raises(InvalidParameterValue):
        declare()


def test_caches_are_refreshed_after_a_change_that_went_well(task: Work) -> None:
    calls: list[str] = []

    class Settings:
        def cache_bios_settings(self, task: Any) -> None:
            calls.append("bios")

        def cache_firmware_components(self, task: Any) -> None:
            calls.append("firmware")

        @base.cache_bios_settings
        def change(self, task: Any, value: int) -> int:
            calls.append("change")
            return value

        @base.cache_firmware_components
        def fail(self, task: Any) -> None:
            raise ValueError("no")

        @base.cache_firmware_components
        def update(self, task: Any) -> None:
            calls.append("update")

    settings = Settings()
    assert settings.change(task, value=7) == 7
    settings.update(task)
    with pytest.raises(ValueError, match="no"):
        settings.fail(task)
    assert calls == ["change", "bios", "update", "firmware"]

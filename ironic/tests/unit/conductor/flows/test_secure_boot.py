"""Secure boot that an instance requests: set and taken back, or refused with a reason; never ignored."""

import pytest

from ironic.core.errors import InvalidParameterValue, IronicError, UnsupportedDriverExtension
from ironic.core.flows import states
from ironic.drivers.modules.fake import FakeManagement

WANTED = {"instance_info": {"capabilities": {"secure_boot": "true"}}}


@pytest.fixture
def firmware(bench, monkeypatch) -> dict[str, object]:
    """Give the fake management secure boot; ``state`` is what the machine has, an error is raised."""
    machine: dict[str, object] = {"state": False}

    def get(management, task):
        if isinstance(machine["state"], Exception):
            raise machine["state"]
        return machine["state"]

    def change(management, task, state):
        bench.script.play(f"secure boot {state}", task)
        machine["state"] = state

    monkeypatch.setattr(FakeManagement, "get_secure_boot_state", get)
    monkeypatch.setattr(FakeManagement, "set_secure_boot_state", change)
    return machine


def node(bench, **values) -> str:
    return bench.node("deploy", provision_state=states.AVAILABLE, automated_clean=False, **(WANTED | values))


def test_it_is_on_while_the_instance_exists(bench, firmware):
    uuid = node(bench)
    assert bench.verb(uuid, "active") == (states.ACTIVE, None)
    assert (firmware["state"], bench.row(uuid).secure_boot) == (True, True)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert (firmware["state"], bench.row(uuid).secure_boot) == (False, False)
    assert bench.script.calls == ["prepare", "secure boot True", "tear_down", "clean_up", "secure boot False"]


@pytest.mark.parametrize("info", [{}, {"capabilities": "odd"}])
def test_it_is_taken_back_whatever_the_user_has_written_meanwhile(bench, firmware, info):
    uuid = node(bench)
    bench.verb(uuid, "active")
    bench.store.nodes.update(uuid, {"instance_info": info})
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert (firmware["state"], bench.row(uuid).secure_boot) == (False, False)
    assert "secure_boot_of_instance" not in bench.row(uuid).driver_internal_info


@pytest.mark.parametrize("info", [{}, {"capabilities": "secure_boot:false"}])
def test_it_is_left_alone_where_nothing_is_requested(bench, firmware, info):
    uuid = node(bench, instance_info=info)
    bench.verb(uuid, "active")
    bench.verb(uuid, "deleted")
    assert not any(call.startswith("secure") for call in bench.script.calls)


def test_a_driver_without_it_refuses_while_the_user_waits(bench):
    uuid = node(bench)
    with pytest.raises(InvalidParameterValue, match="secure boot"):
        bench.verb(uuid, "active")
    assert bench.state(uuid) == (states.AVAILABLE, None)


def test_a_bmc_without_it_fails_the_deployment_before_the_machine_is_touched(bench, firmware):
    firmware["state"] = UnsupportedDriverExtension(driver="x", extension="get_secure_boot_state")
    uuid = node(bench)
    assert bench.verb(uuid, "active")[0] == states.DEPLOYFAIL
    assert "requests secure boot" in bench.row(uuid).last_error
    assert "prepare" not in bench.script.calls


def test_a_change_that_fails_fails_the_deployment(bench, firmware):
    bench.script.answers["secure boot True"] = IronicError("the firmware is locked")
    uuid = node(bench)
    assert bench.verb(uuid, "active")[0] == states.DEPLOYFAIL
    assert "the firmware is locked" in bench.row(uuid).last_error


@pytest.mark.parametrize(
    "values, words",
    [
        ({"instance_info": {"capabilities": {"secure_boot": "perhaps"}}}, "perhaps"),
        ({"instance_info": {"capabilities": "secure_boot:true,boot_mode:bios"}}, "bios"),
        ({"properties": {"capabilities": "boot_mode:bios"}}, "bios"),
    ],
)
def test_a_contradiction_is_refused(bench, firmware, values, words):
    uuid = node(bench, **values)
    with pytest.raises(InvalidParameterValue, match=words):
        bench.verb(uuid, "active")


@pytest.mark.parametrize("capabilities", ["secure_boot", {"secure_boot": "perhaps"}])
def test_an_instance_with_odd_capabilities_can_be_removed(bench, capabilities):
    values = {"instance_info": {"capabilities": capabilities}, "secure_boot": True}
    uuid = bench.node(provision_state=states.ERROR, automated_clean=False, **values)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)

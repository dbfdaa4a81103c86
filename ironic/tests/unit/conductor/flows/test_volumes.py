"""The storage interface of a node: called around deployments, at tear-down and with the power of an active node."""

import pytest

from ironic.core.errors import InterfaceNotFoundInEntrypoint, IronicError
from ironic.core.flows import states
from ironic.drivers.modules.fake import FakeStorage

VOLUME = "5f3b1c7e-2a10-4c62-9d0e-6f4f0c7c1a22"
ATTACHED = "fake_attached_volumes"


def noting(bench, name, real):
    def note(storage, task):
        bench.script.play(name, task)
        real(storage, task)

    return note


@pytest.fixture
def calls(bench, monkeypatch) -> list[str]:
    """Note the calls of the storage interface among those of the scripted interfaces."""
    for name in ("attach_volumes", "detach_volumes"):
        monkeypatch.setattr(FakeStorage, name, noting(bench, name, getattr(FakeStorage, name)))
    return bench.script.calls


def machine(bench, store, state, boot_index=0, **values) -> str:
    uuid = bench.node("deploy", provision_state=state, storage_interface="fake", **values)
    store.volume_targets.create(
        {"node_id": bench.row(uuid).id, "volume_type": "iscsi", "volume_id": VOLUME, "boot_index": boot_index}
    )
    store.volume_connectors.create({"node_id": bench.row(uuid).id, "type": "iqn", "connector_id": "iqn.1"})
    return uuid


def attached(bench, uuid):
    return bench.row(uuid).driver_internal_info.get(ATTACHED)


def power(bench, uuid, target) -> str | None:
    with bench.tasks.acquire(bench.context, uuid, purpose="power") as task:
        task.change_power(target)
    return bench.row(uuid).power_state


def test_a_deployment_attaches_the_volumes_once_the_machine_is_prepared(bench, store, calls):
    uuid = machine(bench, store, states.AVAILABLE)
    assert bench.verb(uuid, "active") == (states.ACTIVE, None)
    assert calls == ["prepare", "attach_volumes"]
    assert attached(bench, uuid) == [VOLUME]


@pytest.mark.parametrize(("state", "expected"), [("power on", [VOLUME]), ("power off", None)])
def test_an_adoption_leaves_the_volumes_as_a_deployment_would(bench, store, calls, state, expected):
    uuid = machine(bench, store, states.MANAGEABLE, power_state=state)
    assert bench.verb(uuid, "adopt") == (states.ACTIVE, None)
    assert attached(bench, uuid) == expected
    if expected:
        assert calls[-2:] == ["take_over", "attach_volumes"]


def test_an_adoption_fails_without_the_volumes_of_a_machine_that_is_on(bench, store, calls):
    bench.script.answers["attach_volumes"] = IronicError("the volume is in use")
    uuid = machine(bench, store, states.MANAGEABLE, power_state="power on")
    assert bench.verb(uuid, "adopt")[0] == states.ADOPTFAIL
    assert "the volume is in use" in bench.row(uuid).last_error


def test_tear_down_detaches_the_volumes_and_removes_the_targets(bench, store, calls):
    uuid = machine(bench, store, states.AVAILABLE, automated_clean=False)
    bench.verb(uuid, "active")
    calls.clear()
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert calls == ["tear_down", "detach_volumes", "clean_up"]
    assert attached(bench, uuid) is None
    assert (store.volume_targets.count(), store.volume_connectors.count()) == (0, 1)


def test_volumes_that_can_not_be_detached_keep_the_instance(bench, store, calls):
    bench.script.answers["detach_volumes"] = IronicError("the storage service is gone")
    uuid = machine(bench, store, states.ACTIVE)
    assert bench.verb(uuid, "deleted")[0] == states.ERROR
    assert "the storage service is gone" in bench.row(uuid).last_error
    assert store.volume_targets.count() == 1


@pytest.mark.parametrize("state, detached", [("power off", True), ("power on", False), (None, False), ("error", False)])
def test_a_failed_deployment_detaches_what_no_running_system_uses(bench, store, calls, state, detached):
    bench.script.answers["second"] = IronicError("no")
    uuid = machine(bench, store, states.AVAILABLE, power_state=state, vendor_interface="scripted")
    assert bench.verb(uuid, "active")[0] == states.DEPLOYFAIL
    assert calls[-1] == ("detach_volumes" if detached else "clean_up")
    assert attached(bench, uuid) == (None if detached else [VOLUME])


def test_a_failed_attachment_fails_the_deployment_and_is_undone(bench, store, calls):
    bench.script.answers["attach_volumes"] = IronicError("the volume is in use")
    uuid = machine(bench, store, states.AVAILABLE, power_state="power off")
    assert bench.verb(uuid, "active")[0] == states.DEPLOYFAIL
    assert "the volume is in use" in bench.row(uuid).last_error
    assert calls == ["prepare", "attach_volumes", "detach_volumes", "clean_up", "detach_volumes"]


def test_an_error_of_the_undoing_does_not_hide_the_reason(bench, store, calls):
    bench.script.answers |= {"attach_volumes": IronicError("in use"), "detach_volumes": IronicError("gone too")}
    uuid = machine(bench, store, states.AVAILABLE)
    bench.verb(uuid, "active")
    assert "in use" in bench.row(uuid).last_error


def test_the_power_of_an_active_node_attaches_and_detaches(bench, store, calls):
    uuid = machine(bench, store, states.ACTIVE, power_state="power off")
    power(bench, uuid, "power on")
    assert (calls, attached(bench, uuid)) == (["attach_volumes"], [VOLUME])
    power(bench, uuid, "rebooting")
    power(bench, uuid, "power off")
    assert (calls, attached(bench, uuid)) == (["attach_volumes", "detach_volumes"], None)


def test_power_on_fails_without_the_volumes_and_power_off_does_not(bench, store, calls):
    bench.script.answers |= {"attach_volumes": IronicError("in use"), "detach_volumes": IronicError("gone")}
    uuid = machine(bench, store, states.ACTIVE, power_state="power off")
    with pytest.raises(IronicError, match="in use"):
        power(bench, uuid, "power on")
    assert bench.row(uuid).power_state == "power off"
    store.nodes.update(uuid, {"power_state": "power on"})
    assert power(bench, uuid, "power off") == "power off"


def test_the_power_of_other_nodes_leaves_volumes_alone(bench, store, calls):
    uuid = machine(bench, store, states.MANAGEABLE, power_state="power off")
    power(bench, uuid, "power on")
    power(bench, uuid, "power off")
    assert calls == []


def test_a_missing_storage_interface_counts_only_where_there_are_volumes(bench, store):
    plain = bench.node("deploy", provision_state=states.AVAILABLE, storage_interface="cinder", automated_clean=False)
    assert bench.verb(plain, "active")[0] == states.ACTIVE
    assert bench.verb(plain, "deleted")[0] == states.AVAILABLE
    uuid = machine(bench, store, states.AVAILABLE)
    store.nodes.update(uuid, {"storage_interface": "cinder"})
    with pytest.raises(InterfaceNotFoundInEntrypoint, match="cinder"):
        bench.verb(uuid, "active")

"""Deploy interfaces `custom-agent`, `ramdisk` and `autodetect`, from the verb to the end and back."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import states
from ironic.drivers.contract.interfaces.boot_and_deploy import ORIGINAL
from ironic.tests.functional.agent.conftest import NotingBoot, beat
from ironic.tests.functional.agent.test_direct import IMAGE
from ironic.tests.unit.conductor.flows import bench as benches

RAMDISK = {"kernel": "http://k", "ramdisk": "http://r"}
ISO = {"boot_iso": "http://i"}


def node(bench: benches.Bench, interface: str, info=None, state=states.AVAILABLE, **values) -> str:
    return bench.node(
        "boot", "power", "network", provision_state=state, deploy_interface=interface, power_state="power off",
        management_interface="noop", instance_info=info or {}, **values,
    )  # fmt: skip


@pytest.fixture
def able(monkeypatch) -> None:
    """Have the boot interface start users' ramdisks."""
    monkeypatch.setattr(NotingBoot, "capabilities", ["ramdisk_boot"])


# custom-agent


def test_custom_agent_runs_the_users_own_steps(bench, secure_agent, done):
    agent = secure_agent
    agent.results.pop("standby.power_off")
    agent.ends_at_once.add("standby.power_off")
    uuid = node(bench, "custom-agent", {"capabilities": {"boot_option": "local"}})
    step = {"interface": "deploy", "step": "loopback_sleep", "args": {"seconds": 1}, "priority": 70}
    bench.verb(uuid, "active", deploy_steps=[step])
    assert done == [
        "disconnect tenant",
        "connect provisioning",
        "prepare_ramdisk http://192.0.2.1:6385",
        "set power on",
    ]
    done.clear()
    assert beat(bench, agent, uuid) == (states.DEPLOYWAIT, "loopback_sleep")
    agent.end()
    assert beat(bench, agent, uuid) == (states.ACTIVE, "")
    assert agent.names == ["deploy.get_deploy_steps", "deploy.execute_deploy_step", "standby.power_off"]
    assert done == ["prepare_instance", "set power off", "disconnect provisioning", "connect tenant", "set power on"]


def test_custom_agent_asks_for_no_image_but_for_a_usable_disk(bench):
    with pytest.raises(InvalidParameterValue, match="colour"):
        bench.verb(node(bench, "custom-agent", properties={"root_device": {"colour": "red"}}), "active")


def test_a_boot_mode_that_is_ruled_out_is_refused(bench, conf):
    conf(conductor__disallowed_deployment_boot_modes=["bios"])
    uuid = node(bench, "custom-agent", properties={"capabilities": "boot_mode:bios"})
    with pytest.raises(InvalidParameterValue, match="disallowed_deployment_boot_modes"):
        bench.verb(uuid, "active")
    bench.store.nodes.update(uuid, {"instance_info": {"capabilities": "boot_mode:uefi"}})
    assert bench.verb(uuid, "active")[0] == states.DEPLOYWAIT


# ramdisk


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("info", [RAMDISK, ISO])
def test_a_ramdisk_is_started_without_an_agent(bench, done, info):
    uuid = node(bench, "ramdisk", {**info, "configdrive": "http://drive"})
    assert bench.verb(uuid, "active")[0] == states.ACTIVE
    assert done == ["disconnect tenant", "connect tenant", "prepare_instance", "set power on"]
    assert bench.row(uuid).instance_info["capabilities"] == {"boot_option": "ramdisk"}
    done.clear()
    bench.store.nodes.update(uuid, {"automated_clean": False})
    assert bench.verb(uuid, "deleted")[0] == states.AVAILABLE
    assert done == [
        "set power off",
        "disconnect tenant",
        "disconnect provisioning",
        "clean_up_ramdisk",
        "clean_up_instance",
    ]


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("info, error", [
    ({}, MissingParameterValue),
    ({"kernel": "http://k"}, MissingParameterValue),
    ({"image_source": "http://i"}, MissingParameterValue),
    ({**RAMDISK, "capabilities": {"boot_option": "local"}}, InvalidParameterValue),
])  # fmt: skip
def test_a_ramdisk_must_be_named(bench, info, error):
    with pytest.raises(error):
        bench.verb(node(bench, "ramdisk", info), "active")


def test_a_boot_interface_that_starts_no_ramdisk_is_refused(bench):
    with pytest.raises(InvalidParameterValue, match="boot interface"):
        bench.verb(node(bench, "ramdisk", RAMDISK), "active")


@pytest.mark.usefixtures("able")
def test_a_machine_with_a_ramdisk_is_cleaned_by_an_agent(bench, agent):
    uuid = node(bench, "ramdisk", state=states.MANAGEABLE)
    bench.verb(uuid, "clean", clean_steps=[{"interface": "deploy", "step": "loopback_noop"}])
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_noop")
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.MANAGEABLE


# autodetect


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("info, chosen, state", [
    (IMAGE, "direct", states.DEPLOYWAIT),
    (RAMDISK, "ramdisk", states.ACTIVE),
    (ISO, "ramdisk", states.ACTIVE),
    ({**IMAGE, **RAMDISK, "root_gb": 5}, "direct", states.DEPLOYWAIT),
])  # fmt: skip
def test_what_fits_is_chosen_for_the_time_of_the_instance(bench, info, chosen, state):
    uuid = node(bench, "autodetect", info, automated_clean=False)
    assert bench.verb(uuid, "active")[0] == state
    assert bench.row(uuid).deploy_interface == chosen
    bench.verb(uuid, "deleted")
    row = bench.row(uuid)
    assert (row.provision_state, row.deploy_interface) == (states.AVAILABLE, "autodetect")
    assert ORIGINAL.name not in row.driver_internal_info


@pytest.mark.usefixtures("able")
def test_it_is_chosen_anew_when_the_instance_is_built_anew(bench):
    uuid = node(bench, "autodetect", RAMDISK)
    bench.verb(uuid, "active")
    bench.store.nodes.update(uuid, {"instance_info": IMAGE})
    bench.verb(uuid, "rebuild")
    row = bench.row(uuid)
    assert (row.deploy_interface, row.driver_internal_info[ORIGINAL.name]) == ("direct", "autodetect")


def test_it_is_chosen_also_where_the_instance_asked_for_it(bench):
    uuid = node(bench, "direct", {**IMAGE, "deploy_interface": "autodetect"}, automated_clean=False)
    bench.verb(uuid, "active")
    row = bench.row(uuid)
    assert (row.instance_info["deploy_interface"], row.deploy_interface) == ("direct", "direct")
    bench.verb(uuid, "deleted")
    assert bench.row(uuid).deploy_interface == "direct"


@pytest.mark.usefixtures("able")
def test_an_interface_that_somebody_chose_meanwhile_stays(bench):
    uuid = node(bench, "autodetect", RAMDISK, automated_clean=False)
    bench.verb(uuid, "active")
    bench.store.nodes.update(uuid, {"deploy_interface": "custom-agent"})
    bench.verb(uuid, "deleted")
    row = bench.row(uuid)
    assert row.deploy_interface == "custom-agent"
    assert not {"original_deploy_interface", "detected_deploy_interface"} & row.driver_internal_info.keys()


def test_the_order_of_the_option_decides(bench, conf):
    conf(autodetect_deploy_interfaces=["unheard-of", "autodetect", "fake", "custom-agent", "direct"])
    uuid = node(bench, "autodetect", IMAGE)
    bench.verb(uuid, "active")
    assert bench.row(uuid).deploy_interface == "custom-agent"


@pytest.mark.parametrize("info", [{}, RAMDISK])
def test_what_nothing_fits_is_refused_and_changes_nothing(bench, info):
    uuid = node(bench, "autodetect", info)
    before = bench.row(uuid).as_dict()
    with pytest.raises(InvalidParameterValue, match=r"None of the deploy interfaces \(ramdisk, direct\) "):
        bench.verb(uuid, "active")
    after = bench.row(uuid).as_dict()
    assert {**after, "updated_at": 0} == {**before, "updated_at": 0}


def test_the_chosen_one_judges_what_is_to_be_deployed(bench):
    uuid = node(bench, "autodetect", {"image_source": "http://images/a"})
    with pytest.raises(MissingParameterValue, match="checksum"):
        bench.verb(uuid, "active")
    assert bench.row(uuid).deploy_interface == "autodetect"


def test_a_failed_deployment_can_be_tried_with_something_else(bench, agent):
    uuid = node(bench, "autodetect", IMAGE)
    bench.verb(uuid, "active")
    bench.verb(uuid, "abort")
    assert bench.state(uuid)[0] == states.DEPLOYFAIL
    bench.store.nodes.update(uuid, {"instance_info": {}})
    with pytest.raises(InvalidParameterValue):
        bench.verb(uuid, "active")
    assert bench.row(uuid).deploy_interface == "direct"
    bench.store.nodes.update(uuid, {"automated_clean": False})
    assert bench.verb(uuid, "deleted")[0] == states.AVAILABLE
    assert bench.row(uuid).deploy_interface == "autodetect"


def test_cleaning_needs_no_choice(bench, agent):
    uuid = node(bench, "autodetect", state=states.MANAGEABLE)
    bench.verb(uuid, "clean", clean_steps=[{"interface": "deploy", "step": "loopback_noop"}])
    assert beat(bench, agent, uuid) == (states.CLEANWAIT, "loopback_noop")


STEP = [{"interface": "deploy", "step": "erase_devices_metadata", "args": {}}]


@pytest.mark.parametrize(
    ("verb", "state", "arguments"),
    [
        ("provide", states.MANAGEABLE, {}),
        ("clean", states.MANAGEABLE, {"clean_steps": STEP}),
        ("service", states.ACTIVE, {"service_steps": STEP}),
    ],
)
def test_work_whose_ramdisk_can_not_boot_is_refused_and_leaves_the_node_as_it_was(
    bench: Any, monkeypatch: pytest.MonkeyPatch, verb: str, state: str, arguments: dict[str, Any]
) -> None:
    def refuse(self: Any, task: Any) -> None:
        raise MissingParameterValue(err="deploy_kernel is missing.")

    monkeypatch.setattr(NotingBoot, "validate", refuse)
    uuid = bench.node("boot", "network", provision_state=state, deploy_interface="direct")
    with pytest.raises(MissingParameterValue, match="deploy_kernel is missing"):
        bench.verb(uuid, verb, **arguments)
    node = bench.row(uuid)
    assert (node.provision_state, node.last_error, node.maintenance, node.fault) == (state, None, False, None)
    assert (bench.history(uuid), node.reservation) == ([], None)


def test_a_node_that_is_not_cleaned_needs_no_ramdisk(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, task: Any) -> None:
        raise MissingParameterValue(err="deploy_kernel is missing.")

    monkeypatch.setattr(NotingBoot, "validate", refuse)
    uuid = bench.node(
        "boot", "network", provision_state=states.MANAGEABLE, deploy_interface="direct", automated_clean=False
    )
    assert bench.verb(uuid, "provide")[0] == states.AVAILABLE


@pytest.mark.parametrize("capabilities", [None, {"disk_label": "gpt"}, "disk_label:gpt"])
@pytest.mark.parametrize("verb", ["rebuild", "active"])
def test_an_image_follows_a_ramdisk(bench, able, monkeypatch, verb, capabilities):
    given = {} if capabilities is None else {"capabilities": capabilities}
    if verb == "active":  # after a deployment that failed
        monkeypatch.setattr(NotingBoot, "prepare_instance", lambda self, task: 1 / 0)
    uuid = node(bench, "autodetect", RAMDISK | given)
    bench.verb(uuid, "active")
    first = bench.row(uuid)
    if verb == "active":
        assert (first.provision_state, first.instance_info) == (states.DEPLOYFAIL, RAMDISK | given)
    else:
        assert first.provision_state == states.ACTIVE
        assert "boot_option" in str(first.instance_info["capabilities"])
    info = {name: value for name, value in first.instance_info.items() if name not in RAMDISK}
    bench.store.nodes.update(uuid, {"instance_info": info | IMAGE})
    assert bench.verb(uuid, verb)[0] == states.DEPLOYWAIT
    second = bench.row(uuid)
    assert (second.deploy_interface, second.instance_info) == ("direct", IMAGE | given)


@pytest.mark.parametrize(
    "given", [{}, {"disk_label": "gpt"}, "boot_option:ramdisk", "disk_label:gpt,boot_option:ramdisk"]
)
def test_an_image_follows_a_ramdisk_of_a_release_that_did_not_take_its_boot_option_back(bench, able, given):
    uuid = node(bench, "autodetect", RAMDISK)
    assert bench.verb(uuid, "active") == (states.ACTIVE, None)
    first = bench.row(uuid)
    left = given if isinstance(given, str) else given | {"boot_option": "ramdisk"}
    memory = {name: value for name, value in first.driver_internal_info.items() if name != "own_values"}
    info = IMAGE | {"capabilities": left}
    bench.store.nodes.update(uuid, {"instance_info": info, "driver_internal_info": memory})
    assert bench.verb(uuid, "rebuild")[0] == states.DEPLOYWAIT
    second = bench.row(uuid)
    assert second.deploy_interface == "direct"
    assert "boot_option" not in str(second.instance_info)
    assert ("disk_label" in str(second.instance_info)) is ("disk_label" in str(given))


# Adopting


def adopt(bench: benches.Bench, interface: str, info: Any, **values: Any) -> Any:
    uuid = node(bench, interface, info, states.MANAGEABLE, **values)
    bench.verb(uuid, "adopt")
    return bench.row(uuid)


@pytest.mark.parametrize(
    ("interface", "info", "chosen"),
    [
        ("autodetect", RAMDISK, "ramdisk"),
        ("autodetect", IMAGE, "direct"),
        ("autodetect", {"image_source": "http://images/unknown-sum"}, "direct"),
        ("autodetect", {}, "autodetect"),
        ("ramdisk", ISO, "ramdisk"),
        ("direct", {}, "direct"),
        ("custom-agent", {}, "custom-agent"),
    ],
)
def test_an_adopted_machine_is_as_a_deployed_one(bench, able, done, monkeypatch, interface, info, chosen):
    def no_ramdisk(_boot: Any, _task: Any) -> None:
        raise MissingParameterValue(err="there is no deploy_kernel")

    if chosen != "ramdisk":
        monkeypatch.setattr(NotingBoot, "validate", no_ramdisk)
    row = adopt(bench, interface, info)
    assert (row.provision_state, row.last_error, row.deploy_interface) == (states.ACTIVE, None, chosen)
    option = {"capabilities": {"boot_option": "ramdisk"}} if chosen == "ramdisk" else {}
    assert row.instance_info == info | option
    assert done == (["prepare_instance"] if option else [])


def test_an_adoption_that_fails_leaves_the_interface_as_it_was(bench, able, monkeypatch):
    monkeypatch.setattr(NotingBoot, "prepare_instance", lambda self, task: 1 / 0)
    row = adopt(bench, "autodetect", RAMDISK)
    assert (row.provision_state, row.deploy_interface, row.instance_info) == (states.ADOPTFAIL, "autodetect", RAMDISK)
    monkeypatch.undo()
    monkeypatch.setattr(NotingBoot, "capabilities", ["ramdisk_boot"])
    bench.store.nodes.update(row.uuid, {"instance_info": IMAGE})
    assert bench.verb(row.uuid, "adopt")[0] == states.ACTIVE
    assert bench.row(row.uuid).deploy_interface == "direct"


def test_an_instance_that_no_interface_deploys_is_not_adopted(bench):
    row = adopt(bench, "autodetect", RAMDISK)  # the boot interface starts no ramdisk
    assert row.provision_state == states.ADOPTFAIL
    assert "None of the deploy interfaces" in row.last_error

"""Fixtures: agents that are real servers, and a conductor whose nodes are run by them."""

from collections.abc import Iterator
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.core.flows import states
from ironic.drivers.composition import extensions
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.contract.step_declarations import deploy_step
from ironic.drivers.modules.agent import AgentBase, agent_client
from ironic.drivers.modules.fake import FakeBoot, FakePower
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.tests.agent_double import AgentDouble, agent_double
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.flows import bench as benches

DONE: list[str] = []


class OnlySteps(AgentBase):
    """A deploy interface that does nothing but boot an agent."""

    def validate(self, task: Any) -> None:
        pass

    @deploy_step(priority=100)
    def deploy(self, task: Any) -> str | None:
        return states.DEPLOYWAIT

    @deploy_step(priority=10)
    def own_step(self, task: Any) -> str | None:
        task.node.properties["own_step"] = "ran"
        return None

    def tear_down(self, task: Any) -> str | None:
        return states.DELETED

    def prepare(self, task: Any) -> None:
        pass

    def clean_up(self, task: Any) -> None:
        pass

    def take_over(self, task: Any) -> None:
        pass


class NotingBoot(FakeBoot):
    """A boot interface that can do everything and notes what is prepared."""

    def validate_rescue(self, task: Any) -> None:
        pass

    def prepare_ramdisk(self, task: Any, ramdisk_params: Any) -> None:
        DONE.append(f"prepare_ramdisk {ramdisk_params['ipa-api-url']}")

    def clean_up_ramdisk(self, task: Any) -> None:
        DONE.append("clean_up_ramdisk")

    def prepare_instance(self, task: Any) -> None:
        DONE.append("prepare_instance")

    def clean_up_instance(self, task: Any) -> None:
        DONE.append("clean_up_instance")


class NotingPower(FakePower):
    """A power interface that notes changes; an agent that powers off takes the machine with it."""

    def set_power_state(self, task: Any, power_state: str, timeout: int | None = None) -> None:
        DONE.append(f"set {power_state}")
        super().set_power_state(task, power_state, timeout)


class NotingNetwork(NoopNetwork):
    """A network interface that notes where the machine is put."""

    def connect(self, task: Any, network: str) -> dict[str, str]:
        DONE.append(f"connect {network}")
        return {}

    def disconnect(self, task: Any, network: str) -> None:
        DONE.append(f"disconnect {network}")


_SCRIPTED = {"deploy": OnlySteps, "boot": NotingBoot, "power": NotingPower, "network": NotingNetwork}


@pytest.fixture
def agent() -> Iterator[AgentDouble]:
    with agent_double() as double:
        yield double


@pytest.fixture
def secure_agent() -> Iterator[AgentDouble]:
    with agent_double(tls=True) as double:
        yield double


@pytest.fixture(scope="package")
def composition() -> Iterator[Composition]:
    changed: list[str] = []

    def set_options(**values: Any) -> None:
        for name, value in values.items():
            CONF.set_override(name, value)
            changed.append(name)

    benches.enable_fakes(set_options)
    set_options(
        enabled_deploy_interfaces=["fake", "scripted", "autodetect", "direct", "ramdisk", "custom-agent"],
        enabled_boot_interfaces=["fake", "scripted"],
        enabled_network_interfaces=["noop", "scripted"],
        enabled_rescue_interfaces=["fake", "agent", "no-rescue"],
        enabled_inspect_interfaces=["fake", "agent"],
        enabled_power_interfaces=["fake", "scripted", "agent"],
        enabled_management_interfaces=["fake", "noop"],
        enabled_raid_interfaces=["fake", "agent", "no-raid"],
        enabled_vendor_interfaces=["fake", "no-vendor"],
    )
    found = {group: dict(points) for group, points in extensions.installed().items()}
    for kind, cls in _SCRIPTED.items():
        found[extensions.interfaces_group(kind)]["scripted"] = benches.Loaded(cls)
    yield Composition.load(CONF, found)
    for name in reversed(changed):
        CONF.clear_override(name)


@pytest.fixture
def done() -> list[str]:
    """Return the calls of boot, power and network interfaces."""
    DONE.clear()
    return DONE


@pytest.fixture
def bench(conf, tmp_path, composition, monkeypatch) -> Iterator[benches.Bench]:
    conf(conductor__node_locked_retry_attempts=1, service_catalog__endpoint_override="http://192.0.2.1:6385")
    conf(agent__post_deploy_get_power_state_retry_interval=0)
    conf(agent__deploy_logs_local_path=str(tmp_path / "logs"))
    monkeypatch.setattr(agent_client, "_SECONDS_BETWEEN", 0)
    store = sqlite_store(tmp_path)
    yield benches.Bench(store, composition, benches.Script())
    store.close()


def beat(bench: benches.Bench, agent: AgentDouble, uuid: str, times: int = 1) -> tuple[str, str]:
    """Send heartbeats; return state and running step."""
    for _ in range(times):
        node = bench.row(uuid)  # a restart wipes the token, and the agent that looks its node up gets another one
        node.set_driver_internal_info("agent_secret_token", agent.memory()["agent_secret_token"])
        node.save()
        bench.beat(uuid, **agent.beat())
    node = bench.row(uuid)
    shown = node.clean_step or node.deploy_step or node.service_step or {}
    assert node.reservation is None
    return node.provision_state, shown.get("step", "")

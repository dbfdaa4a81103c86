"""The Compose file, brought up: its checks and conditions, a node's way to use, and the death of a conductor."""

import json
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ironic.tests.scenario.packages.composed_site import OWN, ComposedSite, container
from ironic.tests.scenario.packages.images import Images
from ironic.tests.site import eventually, until

pytestmark = pytest.mark.packages

# Machines without hardware beside what the file enables, whose deployment takes long enough to be interrupted.
FAKE = {
    "OS_DEFAULT__ENABLED_HARDWARE_TYPES": "redfish,fake-hardware",
    "OS_DEFAULT__ENABLED_BOOT_INTERFACES": "redfish-virtual-media,fake",
    "OS_DEFAULT__ENABLED_DEPLOY_INTERFACES": "direct,fake",
    "OS_FAKE__DEPLOY_DELAY": "5",
}


@pytest.fixture(scope="module")
def site(images: Images, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComposedSite]:
    for server in ("database", "broker"):
        images.build_server(server, f"localhost/test-{server}")
    composed = ComposedSite(images, tmp_path_factory.mktemp("site"), FAKE)
    try:
        composed.up()
        for name in OWN:
            composed.await_health(name)
        yield composed
    finally:
        composed.close()


def alive(site: ComposedSite) -> dict[str, bool]:
    rows = json.loads(site.baremetal("conductor", "list", "--format", "json"))
    return {row["hostname"]: row["alive"] for row in rows}


def node(site: ComposedSite, *fields: str) -> Any:
    shown = json.loads(site.baremetal("node", "show", "one", "--format", "json", "--fields", *fields))
    return [shown[field] for field in fields]


def other_than(conductor: str) -> str:
    return {"conductor-1": "conductor-2", "conductor-2": "conductor-1"}[conductor]


def test_every_service_is_well_by_its_own_check(site: ComposedSite) -> None:
    services = ("database", "broker", *OWN)
    assert {name: site.unhealthy(name) for name in services} == dict.fromkeys(services)
    assert alive(site) == {"conductor-1": True, "conductor-2": True}
    # It is the conductor that is asked for, not only the server of its files.
    words = ("exec", "--env", "OS_DEFAULT__HOST=nowhere", container("conductor-1"), "ironic-health")
    assert site.podman(*words, "http://127.0.0.1:6388/") == ""
    with pytest.raises(AssertionError, match="nowhere"):
        site.podman(*words, "conductor", "http://127.0.0.1:6388/")


def test_a_node_becomes_active(site: ComposedSite) -> None:
    site.baremetal("node", "create", "--driver", "fake-hardware", "--deploy-interface", "fake", "--name", "one")
    site.baremetal("node", "manage", "one", "--wait", "60")
    site.baremetal("node", "provide", "one", "--wait", "120")
    site.baremetal("node", "deploy", "one", "--wait", "120")
    assert node(site, "provision_state") == ["active"]


def test_the_other_conductor_takes_over_from_one_that_is_killed_at_work(site: ComposedSite) -> None:
    (conductor,) = node(site, "conductor")
    other = other_than(conductor)
    site.baremetal("node", "rebuild", "one")
    assert node(site, "provision_state", "reservation") == ["deploying", conductor]
    # Podman's own kill is one that lasts.
    site.podman("kill", "--signal", "KILL", container(conductor))
    assert site.process(conductor) == 0
    eventually(lambda: node(site, "provision_state", "conductor", "reservation"), ["deploy failed", other, None], 150)
    assert node(site, "last_error")[0]
    assert alive(site) == {conductor: False, other: True}
    asked = ("exec", "--env", f"OS_DEFAULT__HOST={conductor}", container(other), "ironic-health", "conductor")
    with pytest.raises(AssertionError, match="silent since"):
        site.podman(*asked)
    site.baremetal("node", "rebuild", "one", "--wait", "120")
    assert node(site, "provision_state", "conductor") == ["active", other]


def test_no_container_has_written_to_its_root(site: ComposedSite) -> None:
    running = [name for name in OWN if site.process(name)]
    assert "api" in running and len(running) == 2
    assert {name: site.written(name) for name in running} == {name: set() for name in running}


def test_a_conductor_that_crashes_is_started_again(site: ComposedSite) -> None:
    (conductor,) = node(site, "conductor")
    first = site.process(conductor)
    os.kill(first, signal.SIGKILL)
    # Podman starts it again when it cleans up; the clean-up that conmon calls has not always come in this room.
    time.sleep(5)
    if not site.process(conductor):
        site.podman("container", "cleanup", container(conductor))
    until(lambda: site.process(conductor) not in (0, first))
    site.await_health(conductor)
    site.baremetal("node", "power", "off", "one")
    eventually(lambda: node(site, "power_state"), ["power off"])


def test_a_site_ends_in_order(site: ComposedSite) -> None:
    running = [name for name in OWN if site.process(name)]
    site.compose("stop")
    status = {name: site.podman("inspect", "--format", "{{.State.ExitCode}}", container(name)) for name in running}
    assert status == dict.fromkeys(running, "0")

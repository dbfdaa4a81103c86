"""Notifications arrive at a real listener on the bus, from API and conductor; none is sent when they are off."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.rpc.library import oslo_messaging
from ironic.tests.site import BROKER, Site, eventually, site


class Listener:
    """What a program that wants to know receives."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, str, dict[str, Any]]] = []

    def info(self, context: Any, publisher: str, event: str, payload: dict[str, Any], metadata: Any) -> None:
        self.heard.append(("info", publisher, event, payload))

    def error(self, context: Any, publisher: str, event: str, payload: dict[str, Any], metadata: Any) -> None:
        self.heard.append(("error", publisher, event, payload))

    @property
    def events(self) -> list[str]:
        return [each[2].removeprefix("baremetal.node.") for each in self.heard]

    def listen(self, topic: str) -> Any:
        """Begin to listen to a topic; a site has one of its own, in an exchange of its own."""
        transport = oslo_messaging.get_notification_transport(CONF, url=BROKER)
        target = oslo_messaging.Target(topic=topic, exchange=topic)
        listener = oslo_messaging.get_notification_listener(transport, [target], [self], executor="threading")
        listener.start()
        return listener


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Site]:
    """Run a site whose processes send no notifications."""
    with site(tmp_path, conductors=[]) as made:
        yield made


def test_a_node_is_told_of_by_api_and_conductor(running: Site) -> None:
    options = {
        "DEFAULT": {"notification_level": "info", "versioned_notifications_topics": running.name},
        "oslo_messaging_notifications": {"driver": "messagingv2"},
    }
    heard = Listener()
    ear = heard.listen(running.name)
    running.api.stop()
    running.start_api(options).await_ready()
    running.start_conductor("one", options).await_ready()
    node = running.create_node(driver_info={"redfish_password": "canary"}, name="told")
    running.provision(node["uuid"], "manage", "manageable")
    running.put(f"/v1/nodes/{node['uuid']}/states/power", {"target": "power on"})
    expected = [
        "create.start",
        "create.end",
        "provision_set.start",
        "provision_set.end",
        "power_set.start",
        "power_set.end",
    ]
    eventually(lambda: heard.events, expected, 60)
    level, publisher, event, payload = heard.heard[0]
    assert (level, publisher) == ("info", f"ironic-api.{running.host('api')}")
    assert payload["ironic_object.name"] == "NodeCRUDPayload"
    assert payload["ironic_object.data"]["driver_info"] == {"redfish_password": "******"}
    level, publisher, event, payload = heard.heard[-1]
    assert publisher == f"ironic-conductor.{running.host('one')}"
    assert payload["ironic_object.data"]["to_power"] == "power on"
    assert payload["ironic_object.data"]["power_state"] == "power on"
    ear.stop()
    ear.wait()
    assert "canary" not in str(heard.heard)


def test_what_is_off_stays_off_and_a_half_said_wish_is_told(running: Site) -> None:
    one = running.start_conductor("one", {"DEFAULT": {"notification_level": "info"}})
    one.await_ready()
    assert "oslo_messaging_notifications]driver is not" in one.log
    assert "otification" not in running.api.log

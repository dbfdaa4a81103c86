"""Notifications arrive at a real listener on the bus, from API and conductor; none is sent when they are off."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.rpc.library import oslo_messaging
from ironic.tests.redfish_bmc import redfish_bmc
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

    def listen(self, topic: str, exchange: str | None = None) -> Any:
        """Begin to listen to a topic in an exchange, which has the same name unless it is a site's own."""
        transport = oslo_messaging.get_notification_transport(CONF, url=BROKER)
        target = oslo_messaging.Target(topic=topic, exchange=exchange or topic)
        listener = oslo_messaging.get_notification_listener(transport, [target], [self], executor="threading")
        listener.start()
        return listener


@pytest.fixture(scope="module")
def silent_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run an API that sends no notifications."""
    with site(tmp_path_factory.mktemp("site"), conductors=[]) as made:
        yield made


@pytest.fixture
def running(silent_api: Site) -> Iterator[Site]:
    """Return a site whose processes send no notifications; the conductor of a test goes with it."""
    yield silent_api
    silent_api.conductors["one"].stop()


def test_a_node_is_told_of_by_api_and_conductor(tmp_path: Path) -> None:
    options = {
        "DEFAULT": {"notification_level": "info", "versioned_notifications_topics": "told"},
        "oslo_messaging_notifications": {"driver": "messagingv2"},
    }
    with site(tmp_path, conductors=["one"], options=options) as running:
        check_told(running)


def check_told(running: Site) -> None:
    """Have a node made, managed and switched on, and see what API and conductor tell of it."""
    heard = Listener()
    ear = heard.listen("told", running.name)
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


def test_sensors_of_a_real_bmc_arrive_with_the_metrics_of_the_conductor(running: Site, tmp_path: Path) -> None:
    redfish = {f"enabled_{kind}_interfaces": "fake, redfish" for kind in ("management", "power")}
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {**redfish},
        "oslo_messaging_notifications": {"driver": "messagingv2", "topics": running.name},
        "sensor_data": {"send_sensor_data": True, "interval": 1, "enable_for_undeployed_nodes": True},
        "metrics": {"backend": "collector"},
        "redfish": {"connection_attempts": 1},
    }
    heard = Listener()
    ear = heard.listen(running.name)
    running.start_conductor("one", options).await_ready()
    (tmp_path / "bmc").mkdir()
    with redfish_bmc(tmp_path / "bmc", user="operator") as bmc:
        info = bmc.driver_info()
        made = {"power_interface": "redfish", "management_interface": "redfish"}
        node = running.create_node(driver_info=info, name="warm", **made)
        silent = running.create_node(driver_info=info, **made)["uuid"]
        running.provision(silent, "manage", "manageable")
        gone = [{"op": "replace", "path": "/driver_info/redfish_address", "value": "http://127.0.0.1:1"}]
        assert running.ask("PATCH", f"/v1/nodes/{silent}", gone).status_code == 200
        running.provision(node["uuid"], "manage", "manageable")
        heard.heard.clear()
        kinds = {"hardware.fake-hardware.metrics", "ironic.metrics"}
        eventually(lambda: {each[2] for each in heard.heard if each[3].get("node_uuid") != silent}, kinds)
    readings = [each for each in heard.heard if each[3].get("node_uuid") != silent]
    by_event = {event: (publisher, payload) for _, publisher, event, payload in readings}
    publisher, reading = by_event["hardware.fake-hardware.metrics"]
    assert publisher == f"None.{running.host('one')}"
    assert (reading["node_uuid"], reading["node_name"], reading["instance_uuid"]) == (node["uuid"], "warm", None)
    assert reading["event_type"] == "hardware.fake-hardware.metrics.update"
    assert datetime.strptime(reading["timestamp"], "%Y-%m-%dT%H:%M:%S.%f")
    assert reading["payload"]["Temperature"] and reading["payload"]["Extra"]["Manufacturer"] == "Sushy Emulator"
    _, own = by_event["ironic.metrics"]
    assert own["hostname"] == running.host("one")
    assert own["payload"]["conductor.interface_differences"]["type"] == "gauge"
    ear.stop()
    ear.wait()
    assert info["redfish_password"] not in str(heard.heard)


def test_no_sensor_is_read_when_the_readings_have_no_way(running: Site) -> None:
    one = running.start_conductor("one", {"sensor_data": {"send_sensor_data": True}})
    one.await_ready()
    assert "so no sensor is read" in one.log

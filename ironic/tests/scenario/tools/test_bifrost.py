"""Bifrost's role: a unit of Type=notify, empty lists, nginx in front of a socket, old names of options."""

import signal
from pathlib import Path

from ironic.tests.functional.live.asking import call
from ironic.tests.scenario.tools.conftest import Enrol
from ironic.tests.scenario.tools.rendered import Tool, service_manager


def test_the_unit(tmp_path: Path, enrol_to_active: Enrol) -> None:
    with Tool("bifrost", tmp_path) as role, service_manager(tmp_path) as manager:
        for name in ("dhcp-hosts.d", "dhcp-opts.d"):
            (tmp_path / name).mkdir()
        for command in ("create_schema", "upgrade", "online_data_migrations"):
            status, printed = role.run("ironic-dbsync", command)
            assert status == 0, printed
        # A database that is there is upgraded, not made again.
        assert role.run("ironic-dbsync", "create_schema")[0] == 1
        role.environment |= manager.environment
        service = role.start("ironic", log="service.log")
        assert manager.next() == "READY=1"
        door = tmp_path / "ironic.sock"
        assert door.stat().st_mode & 0o777 == 0o660
        role.proxy(door)
        # The role's check: names of conductors.
        found = call(role.api, "GET", "/v1/conductors").json()["conductors"]
        assert [each["hostname"] for each in found] == ["localhost"]
        node = enrol_to_active(role.api, "ipmi")
        # An empty list is the default one, not a list of nothing.
        assert (node["boot_interface"], node["power_interface"]) == ("ipxe", "ipmitool")
        assert node["raid_interface"] == "no-raid"
        role.environment.pop("NOTIFY_SOCKET")
        service.signal(signal.SIGTERM)
        assert manager.next() == "STOPPING=1"
        assert service.end()[0] == 0
        assert "Traceback" not in service.log

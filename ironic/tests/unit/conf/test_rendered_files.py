"""What deployment tools render is explained by the start, line by line; live tests start with Metal3 and Bifrost."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from oslo_log import versionutils

from ironic.conf import CONF, prepare
from ironic.core.errors import DriverLoadError
from ironic.drivers.composition import Composition

DATA = Path(__file__).parents[2] / "data"
SUBJECT = re.compile(r"Without effect: (\[\w+\])([^:]+): ")
OLDER = re.compile(r'Option "(\w+)" from group "(\w+)" is deprecated')
FLAT = "network interface flat is asked for"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave no parsed file and no handler of a file behind."""
    versionutils._deprecated_messages_sent.clear()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    CONF.reset()
    CONF.clear()


@pytest.mark.parametrize(
    ("tool", "without_effect", "older", "fault"),
    [
        (
            "kolla",
            {"[neutron]cleaning_network", "[glance]auth_type"},
            {"send_sensor_data", "send_sensor_data_interval"},
            FLAT,
        ),
        (
            "openstack-helm",
            {"[glance]glance_host", "[neutron]cleaning_network_uuid", "[pxe]ipxe_enabled"},
            {"pxe_append_params"},
            FLAT,
        ),
        ("k8s-operator", {"[json_rpc]auth_strategy"}, set(), None),
        (
            "devstack",
            {
                "[pxe]ipxe_use_swift",
                "[neutron]port_setup_delay",
                "[nova]send_power_notifications",
                "[anaconda]insecure_heartbeat",
            },
            set(),
            None,
        ),
    ],
)
def test_a_rendered_file_is_explained(
    tmp_path: Path, tool: str, without_effect: set[str], older: set[str], fault: str | None
) -> None:
    path = tmp_path / f"{tool}.conf"
    path.write_text((DATA / f"{tool}.conf").read_text().replace("@STATE_DIR@", str(tmp_path)))
    prepare(["--config-file", str(path)])
    if fault is None:
        assert {"ipmi", "redfish"} <= Composition.load(CONF).drivers.keys()
    else:
        with pytest.raises(DriverLoadError, match=fault):
            Composition.load(CONF)
    (log,) = tmp_path.glob("*.log")
    text = log.read_text()
    named = {f"{group}{name}" for group, names in SUBJECT.findall(text) for name in names.split(", ")}
    assert without_effect <= named
    assert {name for name, _ in OLDER.findall(text)} == older
    assert "does not know" not in text

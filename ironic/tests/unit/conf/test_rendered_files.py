"""What deployment tools render is explained by the start, line by line; live tests start with Metal3 and Bifrost."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from oslo_log import versionutils

from ironic.conf import CONF, logging_setup, prepare
from ironic.conf.without_effect import GROUPS
from ironic.core.errors import DriverLoadError
from ironic.drivers.composition.composed_drivers import Composition
from ironic.tests.repository import ROOT

DATA = Path(__file__).parents[2] / "data"
SUBJECT = re.compile(r"Without effect: (\[\w+\])([^:]+): ")
OLDER = re.compile(r'Option "(\w+)" from group "(\w+)" is deprecated')
# Options of changes that a site has made to the reference.
OWN_OPTIONS = {"sap": ("terminal_url_scheme, ssh_command_pattern", "[keystone] auth_section")}
PAGE = (ROOT / "doc" / "change-over.md").read_text()
SECTIONS = {
    "kolla": "Kolla-Ansible",
    "openstack-helm": "OpenStack-Helm",
    "openstack-ansible": "OpenStack-Ansible",
    "k8s-operator": "The Kubernetes operator of OpenStack",
    "devstack": "DevStack",
    "understack": "UnderStack",
    "sap": "The charts of SAP",
}
SKIPPED = re.compile(r"(?:hardware type|\w+ interface) ([\w-]+) (?:\(option|is asked for)")
UNKNOWN = re.compile(r"not needed: (.+)$", re.MULTILINE)
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


def rendered(tool: str, directory: Path, *, changes: tuple[str, str] = ("use_journal = True", "")) -> Path:
    """Write the file of a tool, which may be changed; whether a host has a journal is not its subject."""
    path = directory / f"{tool}.conf"
    text = (DATA / f"{tool}.conf").read_text().replace("@STATE_DIR@", str(directory))
    path.write_text(text.replace(*changes))
    return path


def lost(text: str) -> set[str]:
    """Return the names of what has no effect: options, groups of which none has one, types and interfaces."""
    names = set(SKIPPED.findall(text)) | {name for line in UNKNOWN.findall(text) for name in re.findall(r"\w+", line)}
    for group, options in SUBJECT.findall(text):
        names |= {group} if group.strip("[]") in GROUPS else set(options.split(", "))
    return names


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
        ("k8s-operator", set(), set(), None),
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
        ("openstack-ansible", {"[glance]temp_url_endpoint_type"}, set(), FLAT),
        (
            "understack",
            {"[ilo]use_web_server_for_images"},
            set(),
            r"no hardware type netdev .*network interface neutron is asked for",
        ),
        (
            "sap",
            {"[DEFAULT]network_provider", "[neutron]auth_section"},
            set(),
            r"neutron is asked for \(option enabled_.*neutron is asked for \(option default_network_interface\)",
        ),
    ],
)
def test_a_rendered_file_is_explained(
    tmp_path: Path, tool: str, without_effect: set[str], older: set[str], fault: str | None
) -> None:
    prepare(["--config-file", str(rendered(tool, tmp_path))])
    said = ""
    if fault is None:
        assert {"ipmi", "redfish"} <= Composition.load(CONF).drivers.keys()
    else:
        with pytest.raises(DriverLoadError, match=fault) as raised:
            Composition.load(CONF)
        said = str(raised.value)
    (log,) = tmp_path.glob("*.log")
    text = log.read_text()
    named = {f"{group}{name}" for group, names in SUBJECT.findall(text) for name in names.split(", ")}
    assert without_effect <= named
    assert {name for name, _ in OLDER.findall(text)} == older
    assert ("does not know" in text) == (tool in OWN_OPTIONS)
    assert all(name in text for name in OWN_OPTIONS.get(tool, ()))
    section = PAGE.partition(f"\n### {SECTIONS[tool]}\n")[2].partition("\n### ")[0].partition("\n## ")[0]
    assert {name for name in {*lost(text), *lost(said)} if name not in section} == set()


def test_what_openstack_ansible_asks_for_is_served_with_the_network_that_is_here(tmp_path: Path) -> None:
    path = rendered("openstack-ansible", tmp_path)
    path.write_text(path.read_text().replace("flat,noop", "noop"))
    prepare(["--config-file", str(path)])
    assert Composition.load(CONF).drivers.keys() == {"ipmi"}
    assert CONF.conductor.sync_power_state_interval == -1
    (log,) = tmp_path.glob("*.log")
    text = log.read_text()
    for name, way_on in (("ilo", "redfish"), ("irmc", "redfish"), ("snmp", "nothing replaces it here")):
        assert re.search(rf"hardware type {name} \(option enabled_hardware_types\): [^;]*{way_on}", text), text


def test_a_journal_that_can_not_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging_setup, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"^\[DEFAULT\]use_journal needs Python module systemd: pip install "):
        prepare(["--config-file", str(rendered("openstack-ansible", tmp_path, changes=("", "")))])

"""Published packages of third parties: all their modules import, and their entry points load as any other."""

import json
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.out_of_tree import run
from ironic.tests.repository import tool

# Without the packages' own tests, which are made for the reference.
PROGRAM = """
import importlib, json, pkgutil, warnings
import ironic_interfaces, ironic_staging_drivers

warnings.simplefilter("ignore")
names = [
    module.name
    for package in (ironic_interfaces, ironic_staging_drivers)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=lambda name: None)
    if ".tests" not in module.name
]
faults = {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as error:
        faults[name] = f"{type(error).__name__}: {error}"
print(json.dumps({"names": names, "faults": faults}))
"""

COMPOSE = """
import json, sys, warnings
from ironic.conf import CONF
from ironic.core.hardware_interfaces import KINDS
from ironic.drivers.composition.composed_drivers import Composition

warnings.simplefilter("ignore")
CONF([], default_config_files=[])
types, enabled = json.loads(sys.argv[1])
CONF.set_override("enabled_hardware_types", types)
for name, values in enabled.items():
    CONF.set_override(f"enabled_{name}_interfaces", values)
composition = Composition.load(CONF)
print(json.dumps({
    name: {
        "homes": {kind: type(getattr(composition.default_driver(name), kind)).__module__ for kind in KINDS},
        "properties": sorted(composition.default_driver(name).get_properties()),
    }
    for name in types
}))
"""


@pytest.fixture(scope="module")
def packages() -> str:
    return str(tool("plug_in_packages").ensure())


def test_every_module_imports(tmp_path: Path, packages: str) -> None:
    found = json.loads(run("-c", PROGRAM, cwd=tmp_path, path=packages))
    assert len(found["names"]) > 20
    assert found["faults"] == {}


STAGING = "ironic_staging_drivers"


@pytest.mark.parametrize(
    ("name", "enabled", "homes"),
    [
        ("staging-wol", {"power": ["staging-wol"]}, {"power": f"{STAGING}.wol.power"}),
        ("staging-iboot", {"power": ["staging-iboot"]}, {"power": f"{STAGING}.iboot.power"}),
        (
            "staging-amt",
            {"power": ["staging-amt"], "management": ["staging-amt"]},
            {"power": f"{STAGING}.amt.power", "management": f"{STAGING}.amt.management"},
        ),
        (
            "staging-libvirt",
            {"power": ["staging-libvirt"], "management": ["staging-libvirt"]},
            {"power": f"{STAGING}.libvirt.power", "management": f"{STAGING}.libvirt.power"},
        ),
        (
            "staging-ovirt",
            {"power": ["staging-ovirt"], "management": ["staging-ovirt"]},
            {"power": f"{STAGING}.ovirt.ovirt", "management": f"{STAGING}.ovirt.ovirt"},
        ),
        (
            "staging-nm",
            {"power": ["ipmitool"], "management": ["ipmitool"], "vendor": ["staging-nm"]},
            {"vendor": f"{STAGING}.intel_nm.nm_vendor", "power": "ironic.drivers.modules.ipmi.power"},
        ),
        (
            "lenovo",
            {"power": ["redfish"], "management": ["redfish"], "bios": ["redfish-bluefield-ethernet", "redfish"]},
            {"bios": "ironic_interfaces.lenovo.bios", "power": "ironic.drivers.modules.redfish.power"},
        ),
    ],
)
def test_a_type_loads_by_its_entry_point(
    tmp_path: Path, packages: str, name: str, enabled: dict[str, list[str]], homes: dict[str, str]
) -> None:
    usual: dict[str, list[str]] = {"deploy": ["direct"], "boot": ["pxe"], "management": ["noop", "fake"]}
    wish = json.dumps([[name], {**usual, **enabled}])
    found: dict[str, Any] = json.loads(run("-c", COMPOSE, wish, cwd=tmp_path, path=packages).splitlines()[-1])
    assert {kind: found[name]["homes"][kind] for kind in homes} == homes
    assert found[name]["properties"]

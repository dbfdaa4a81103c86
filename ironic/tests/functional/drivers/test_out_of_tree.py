"""A third party's package: built, installed and loaded like any other."""

import json
from pathlib import Path

import pytest

from ironic.tests.out_of_tree import install, run

PROGRAM = """
import json
from ironic.conf import CONF
from ironic.core.hardware_interfaces import KINDS
from ironic.core.keys.info_keys import declared
from ironic.drivers.composition.composed_drivers import Composition

CONF([], default_config_files=[])
enabled = {
    "bios": "no-bios", "boot": "fake", "console": "no-console", "deploy": "fake", "firmware": "no-firmware",
    "inspect": "no-inspect", "management": "acme", "network": "noop", "power": "acme", "raid": "no-raid",
    "rescue": "no-rescue", "storage": "noop", "vendor": "acme",
}
CONF.set_override("enabled_hardware_types", ["acme"])
for kind, name in enabled.items():
    CONF.set_override(f"enabled_{kind}_interfaces", [name])
composition = Composition.load(CONF)
driver = composition.default_driver("acme")
print(json.dumps({
    "defaults": {kind: composition.default("acme", kind) for kind in KINDS},
    "enabled": enabled,
    "properties": sorted(driver.get_properties()),
    "steps": [step["step"] for kind in ("power", "management") for step in getattr(driver, kind).all_steps("clean")],
    "periodic": [method.title for method in composition.periodic_methods()],
    "declared": {key: str(one.holds) for key, one in declared().items() if key.startswith("acme_")},
    "homes": {kind: type(getattr(driver, kind)).__module__.partition(".")[0] for kind in KINDS},
}))
"""


@pytest.mark.demand("S6", "S38")
def test_a_vendors_package_brings_its_type_and_uses_our_interfaces(tmp_path: Path) -> None:
    told = json.loads(run("-c", PROGRAM, cwd=tmp_path, path=str(install(tmp_path))))

    assert told["defaults"] == told["enabled"]
    assert told["properties"] == ["acme_address", "acme_token"]
    assert told["declared"] == {"acme_address": "the address of the BMC", "acme_token": "a secret"}
    assert told["steps"] == ["cool_down", "self_test"]
    assert told["periodic"] == [
        "management interface acme: note_temperature",
        "management interface acme: watch_self_test",
    ]
    theirs = {kind for kind, home in told["homes"].items() if home == "acme_bmc"}
    assert theirs == {"management", "power", "vendor"}
    assert {home for kind, home in told["homes"].items() if kind not in theirs} == {"ironic"}


def test_a_vendors_package_imports_only_what_plug_ins_import() -> None:
    """What the tutorial shows must not lean on what is ours alone."""
    allowed = {
        "ironic.common",
        "ironic.conductor",
        "ironic.drivers",
        "ironic.drivers.modules",
    }
    lines = [
        line
        for path in (Path(__file__).parent / "acme" / "acme_bmc").glob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith(("from ironic", "import ironic"))
    ]
    assert len(lines) > 8
    assert {line.split()[1] for line in lines} <= allowed
    from_conductor = {line.split()[3] for line in lines if line.startswith("from ironic.conductor import")}
    assert from_conductor == {"periodics", "task_manager", "utils"}

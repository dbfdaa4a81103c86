"""A third party's package: built, installed and loaded like any other."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent / "acme"

PROGRAM = """
import json
from types import SimpleNamespace
from ironic.conf import CONF
from ironic.core.interface_kinds import KINDS
from ironic.drivers.composition import Composition

CONF([], default_config_files=[])
enabled = {
    "bios": "no-bios", "boot": "fake", "console": "no-console", "deploy": "fake", "firmware": "no-firmware",
    "inspect": "no-inspect", "management": "noop", "network": "noop", "power": "acme", "raid": "no-raid",
    "rescue": "no-rescue", "storage": "noop", "vendor": "no-vendor",
}
CONF.set_override("enabled_hardware_types", ["acme"])
for kind, name in enabled.items():
    CONF.set_override(f"enabled_{kind}_interfaces", [name])
composition = Composition.load(CONF)
driver = composition.default_driver("acme")
task = SimpleNamespace(node=SimpleNamespace(power_state=None, driver_info={"acme_address": "x"}, uuid="u"))
driver.power.validate(task)
driver.power.reboot(task)
driver.power.execute_clean_step(task, {"step": "cool_down", "args": {"seconds": 2}})
print(json.dumps({
    "defaults": {kind: composition.default("acme", kind) for kind in KINDS},
    "enabled": enabled,
    "properties": driver.get_properties(),
    "steps": [step["step"] for step in driver.power.all_steps("clean")],
    "state": task.node.power_state,
    "home": type(driver.power).__module__,
}))
"""


@pytest.mark.demand("S38")
def test_a_vendors_package_brings_its_type_and_uses_our_interfaces(tmp_path: Path) -> None:
    told = json.loads(run("-c", PROGRAM, cwd=tmp_path, path=str(install(tmp_path))))

    assert told["defaults"] == told["enabled"]
    assert told["properties"] == {"acme_address": "Address of the machine. Required."}
    assert (told["steps"], told["state"], told["home"]) == (["cool_down"], "power on", "acme_bmc")


def install(directory: Path) -> Path:
    """Build and install the package; return where it is."""
    source, target = directory / "source", directory / "target"
    source.mkdir()
    for path in EXAMPLE.glob("[!_]*.*"):
        (source / path.name).write_bytes(path.read_bytes())
    places = ("install_lib", "--install-dir", str(target), "install_egg_info", "--install-dir", str(target))
    run("setup.py", "-q", "build", *places, cwd=source)
    return target


def run(*arguments: str, cwd: Path, path: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

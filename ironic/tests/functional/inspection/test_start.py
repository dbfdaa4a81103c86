"""Which options of inspections keep the programs from starting, each of them."""

import subprocess
from pathlib import Path

import pytest

from ironic.tests.live_service import PROGRAMS, write_options

ENABLED = dict.fromkeys(("boot", "deploy", "management", "power"), "fake")


@pytest.mark.demand("S104")
@pytest.mark.parametrize("program", ["ironic", "ironic-api", "ironic-conductor"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"auto_discovery": {"enabled": "true"}}, "needs [auto_discovery]driver"),
        ({"auto_discovery": {"enabled": "true", "driver": "x", "allowed_subnets": "y"}}, "allowed_subnets"),
    ],
)
def test_discovery_that_can_not_be_stops_every_program(
    tmp_path: Path, program: str, options: dict[str, dict[str, str]], expected: str
) -> None:
    common = {
        "DEFAULT": {
            # No conductor runs, and no request is sent to one.
            "transport_url": "rabbit://127.0.0.1:1/",
            "rpc_transport": "none" if program == "ironic" else "oslo",
            "enabled_hardware_types": "fake-hardware",
            "auth_strategy": "noauth",
            **{f"enabled_{kind}_interfaces": name for kind, name in ENABLED.items()},
        },
        "database": {"connection": f"sqlite:///{tmp_path}/ironic.sqlite"},
    }
    config = write_options(tmp_path / "ironic.conf", common | options)
    ended = subprocess.run(
        [PROGRAMS / program, "--config-file", str(config)], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode != 0
    assert expected in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr

"""The tools of oslo.config and oslo.policy find the options and rules of the service by its entry points."""

import subprocess
import sys
from pathlib import Path

import pytest

from ironic.api import policies
from ironic.conf import OPTIONS

BIN = Path(sys.executable).parent


def generated(tool: str, namespace: str, tmp_path: Path) -> str:
    path = tmp_path / "generated"
    command: list[str | Path] = [BIN / tool, "--namespace", namespace, "--output-file", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return path.read_text()


def test_a_sample_file_has_every_option(tmp_path: Path) -> None:
    lines = generated("oslo-config-generator", "ironic", tmp_path).splitlines()
    for group, options in OPTIONS.items():
        assert f"[{group}]" in lines
        for option in options:
            assert any(line.startswith(f"#{option.dest} =") for line in lines), option.dest


@pytest.mark.parametrize(
    ("tool", "namespace"), [("oslopolicy-sample-generator", "ironic.api"), ("oslopolicy-policy-generator", "ironic")]
)
def test_policy_files_have_every_rule(tool: str, namespace: str, tmp_path: Path) -> None:
    text = generated(tool, namespace, tmp_path)
    assert all(f'"{rule.name}": ' in text for rule in policies.defaults())

"""The agent of these tests is not even loaded where it could do harm."""

import os
import subprocess
import sys
from pathlib import Path

from ironic.tests.scenario.agent import confined


def test_outside_of_the_sandbox_the_agent_is_refused(tmp_path: Path) -> None:
    environment = {"LOOPBACK_DIR": str(tmp_path), "PATH": os.environ["PATH"]}
    ended = subprocess.run(
        [sys.executable, confined.__file__], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert "it runs as root" in ended.stderr and "it has capabilities" in ended.stderr
    assert list(tmp_path.iterdir()) == []

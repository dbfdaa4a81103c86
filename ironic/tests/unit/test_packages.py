"""tools/packages.sh, by which `make test` sets up a fresh machine: it installs, or says what to install."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.tests.repository import ROOT

NOBODY = 65534


@pytest.fixture
def copy() -> Iterator[Path]:
    """Copy the script to where every user may read it, with a list of packages of which Debian has only the first."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        root.chmod(0o755)
        for name in ("tools", "bin"):
            (root / name).mkdir()
        shutil.copy(ROOT / "tools" / "packages.sh", root / "tools")
        (root / "bindep.txt").write_text("# packages\nbash [platform:dpkg]\nno-such-package\nno-such-server [test]\n")
        yield root


def command(root: Path, name: str, text: str) -> None:
    """Put a program before those of the machine."""
    path = root / "bin" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def run(root: Path, user: int | None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [root / "tools" / "packages.sh"],
        env={"PATH": f"{root / 'bin'}:{os.environ['PATH']}"},
        user=user,
        capture_output=True,
        text=True,
        timeout=30,
    )


def other_user() -> int | None:
    return NOBODY if os.geteuid() == 0 else None


def test_where_it_may_not_install_it_names_the_one_command(copy: Path) -> None:
    command(copy, "sudo", "exit 1")
    done = run(copy, other_user())
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].strip() == "sudo apt-get install no-such-package no-such-server"


def test_where_it_may_it_installs_what_is_missing(copy: Path) -> None:
    command(copy, "sudo", 'test "$2" = true || { shift; exec "$@"; }')
    command(copy, "apt-get", 'echo "$@" >&2')
    done = run(copy, other_user())
    assert (done.returncode, done.stdout) == (0, "Installing Debian packages: no-such-package no-such-server\n")
    assert done.stderr.splitlines() == [
        "-qq update",
        "-qq install --yes --no-install-recommends no-such-package no-such-server",
    ]


def test_a_machine_that_has_all_is_left_alone(copy: Path) -> None:
    (copy / "bindep.txt").write_text("bash\n")
    command(copy, "apt-get", "exit 1")
    done = run(copy, None)
    assert (done.returncode, done.stdout) == (0, "")

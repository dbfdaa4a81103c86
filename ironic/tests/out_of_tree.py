"""The package of a third party that lies beside the tests, built and installed as its users would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parent / "functional" / "drivers" / "acme"


def install(directory: Path) -> Path:
    """Build and install the package into a place of its own; return that place, which belongs on PYTHONPATH."""
    source, target = directory / "source", directory / "target"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__"))
    places = ("install_lib", "--install-dir", str(target), "install_egg_info", "--install-dir", str(target))
    run("setup.py", "-q", "build", *places, cwd=source)
    return target


def run(*arguments: str, cwd: Path, path: str = "") -> str:
    """Run Python with a place on its path; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

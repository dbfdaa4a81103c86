"""Packages of third parties that lie beside the tests, installed where a service finds them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ironic.tests.repository import ROOT

EXAMPLE = Path(__file__).parent / "functional" / "drivers" / "acme"


def install(directory: Path, package: Path = EXAMPLE) -> Path:
    """Build and install a package as its users would, into a place of its own, which belongs on PYTHONPATH."""
    source, target = directory / "source", directory / "target"
    shutil.copytree(package, source, ignore=shutil.ignore_patterns("__pycache__"))
    places = ("install_lib", "--install-dir", str(target), "install_egg_info", "--install-dir", str(target))
    run("setup.py", "-q", "build", *places, cwd=source)
    return target


def lay_out(directory: Path, module: Path, entry_points: str) -> Path:
    """Lay one module, and what an installer would say about it, into a directory, which belongs on PYTHONPATH."""
    described = directory / f"{module.stem}-1.0.dist-info"
    described.mkdir(parents=True)
    shutil.copy(module, directory)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module.stem}\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(entry_points)
    return directory


def run(*arguments: str, cwd: Path, path: str = "") -> str:
    """Run Python with a place on its path, and with this tree, which may be a copy; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (path, str(ROOT))))}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

"""Wheels and environments for tests of what pip does: packages with a name, a version and demands, and one module."""

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from ironic.conf.release import PACKAGE
from ironic.tests.repository import ROOT


def stand_in(directory: Path, name: str, version: str, demands: Iterable[str] = (), module: str = "") -> Path:
    """Write a wheel with one module, which is empty; return its path."""
    described = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
    files = {
        f"{module or name.replace('-', '_')}.py": "",
        f"{described}/METADATA": "".join(metadata + [f"Requires-Dist: {one}\n" for one in demands]),
        f"{described}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{described}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{described}/RECORD"])
    wheel = directory / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


def documented_constraints() -> str:
    """Return the file of constraints that the page on the package index has operators write."""
    page = (ROOT / "doc" / "package-index.md").read_text()
    return page.partition("constraints.txt << 'END'\n")[2].partition("END\n")[0]


class Environment:
    """A virtual environment, which the pip of these tests fills: from a directory of wheels, or from the index."""

    def __init__(self, directory: Path, index: Path | None = None) -> None:
        self.directory = directory
        self.python = directory / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
        self._settings = dict(os.environ)
        if index is not None:
            # A developer's own settings of pip would lead it to other places.
            self._settings = {"PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": "/dev/null"}
            self._settings |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}

    def pip(self, *words: str | Path) -> "subprocess.CompletedProcess[str]":
        """Run pip for this environment; it may fail."""
        return subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.python, *words],
            env=self._settings,
            capture_output=True,
            text=True,
            timeout=600,
        )

    def versions(self) -> dict[str, str]:
        """Return the installed packages with their versions."""
        return {one.name.lower(): one.version for one in self._installed()}

    def files(self) -> dict[str, str]:
        """Return the hash of each file of the packages, by its path below the environment."""
        paths = (path for path in self.directory.glob("lib/python*/site-packages/**/*") if path.is_file())
        return {
            str(path.relative_to(self.directory)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in paths
            if path.suffix != ".pyc"
        }

    def own(self) -> tuple[str, bool]:
        """Return the version of the package `ironic`, and whether its files are ours, not those of another package."""
        (found,) = (one for one in self._installed() if one.name.lower() == PACKAGE)
        names = {str(file) for file in found.files or ()}
        return found.version, bool(names & {"ours.py", "ironic/conf/release.py"})

    def _installed(self) -> list[importlib.metadata.Distribution]:
        (packages,) = self.directory.glob("lib/python*/site-packages")
        return list(importlib.metadata.distributions(path=[str(packages)]))

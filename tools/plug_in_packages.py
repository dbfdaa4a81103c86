"""Fetch the published plug-ins that tests load into the service, without what they require: `make plug-ins`.

They go to `.plug-ins`, which belongs on PYTHONPATH. ironic-lib is there for one of them.
"""

import subprocess
import sys
from pathlib import Path

import environments

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".plug-ins"
PACKAGES = ("ironic-staging-drivers==0.17.0", "ironic-interfaces==0.0.1", "ironic-lib==7.0.0")


def ensure() -> Path:
    """Fetch the packages if need be; return the directory."""
    HOME.mkdir(exist_ok=True)
    environments.ensure(HOME, map(str.encode, PACKAGES), _fetch)
    return HOME


def _fetch(directory: Path) -> None:
    print(f"Fetching {', '.join(PACKAGES)} into {directory} ...", flush=True)
    quiet = ("-qq", "--disable-pip-version-check", "--no-input")
    command = [sys.executable, "-m", "pip", "install", *quiet, "--no-deps", "--upgrade", "--target", str(directory)]
    subprocess.run([*command, *PACKAGES], check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    ensure()

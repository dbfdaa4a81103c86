"""Make the virtual environment of the real agent, which the tests in ironic/tests/scenario/agent run: `make agent`.

The tests run the agent without privileges, so uid 65534 must be able to read the environment. It is in the checkout, or
in the directory for temporary files when that user can't enter the checkout.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import environments
from environments import run

ROOT = Path(__file__).resolve().parent.parent
AGENT = "ironic-python-agent==13.0.0"
PLUGIN = ROOT / "ironic" / "tests" / "scenario" / "agent" / "plugin"

AGENT_UID = 65534
# setpriv looks up its program with the rights of root, hence env.
UNPRIVILEGED = (
    "setpriv",
    f"--reuid={AGENT_UID}",
    f"--regid={AGENT_UID}",
    "--clear-groups",
    "--no-new-privs",
    "--",
    "env",
)
# Shows a missing requirement of the agent here instead of in a test.
CHECK = "import ironic_python_agent.cmd.agent, loopback_hardware"


def ensure() -> Path:
    """Make the environment if need be; return its Python."""
    directory = _own_directory()
    files = [path.read_bytes() for path in sorted(PLUGIN.iterdir()) if path.is_file()]
    environments.ensure(directory, [AGENT.encode(), _base_python().encode(), *files], _make)
    return directory / "bin" / "python"


def enterable(*directories: Path) -> Path:
    """Return the first of these directories that the agent's user can enter."""
    for directory in directories:
        if subprocess.run([*UNPRIVILEGED, "test", "-x", directory], check=False).returncode == 0:
            return directory
    raise SystemExit(f"The agent can't run here: uid {AGENT_UID} can enter none of {', '.join(map(str, directories))}")


def temporary() -> Path:
    """Return a directory for temporary files that the agent's user can enter."""
    return enterable(Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"))


def _own_directory() -> Path:
    """Return the directory for the environment, which belongs to this user."""
    parent = enterable(ROOT, temporary())
    above = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    directory = parent / (".venv-agent" if parent == ROOT else f"ironic-agent-{above}")
    directory.mkdir(exist_ok=True)
    if directory.is_symlink() or directory.stat().st_uid != os.getuid():
        raise SystemExit(f"{directory} belongs to another user; remove it")
    directory.chmod(0o755)
    return directory


def _base_python() -> str:
    """Return a Python outside of any virtual environment that the agent's user can run."""
    own = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (own, "/usr/bin/python3"):
        if subprocess.run([*UNPRIVILEGED, candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    raise SystemExit(f"uid {AGENT_UID} can run neither {own} nor /usr/bin/python3")


def _make(directory: Path) -> None:
    print(f"Installing {AGENT} into {directory} ...", flush=True)
    python = directory / "bin" / "python"
    install: list[str | Path] = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "--no-input", "install"]
    run(_base_python(), "-m", "venv", "--clear", directory)
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(PLUGIN, copy, dirs_exist_ok=True)  # the build writes files beside the sources
        run(*install, AGENT, copy)
    run(*UNPRIVILEGED, python, "-c", CHECK)


def main() -> int:
    """Make the environment as root; other users can't run the agent."""
    if os.geteuid() != 0:
        print("The real agent can be run by root only: its tests will fail here.")
    else:
        ensure()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Make the virtual environment of the real agent, which the tests in ironic/tests/scenario/agent run: `make agent`.

The agent runs there without privileges, so everything in it must be readable for uid 65534. It lies in the checkout;
where a folder above keeps that user out, in the system's directory for temporary files. What it is made of is written
down in it: it is made anew when that changes, and otherwise left as it is. Two that come at the same time make one.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENT = "ironic-python-agent==13.0.0"
PLUGIN = ROOT / "ironic" / "tests" / "scenario" / "agent" / "plugin"

NOBODY = 65534
# What setpriv starts itself is still looked up with root's rights, hence env.
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--", "env")
# An agent that can't find one of its requirements is better seen here than in a test.
CHECK = "import ironic_python_agent.cmd.agent, loopback_hardware"


def ensure() -> Path:
    """Return the environment's Python, made if need be."""
    directory = _place()
    with _only_one(directory):
        stamp, wanted = directory / ".made-of", _fingerprint()
        if not stamp.exists() or stamp.read_text() != wanted:
            _make(directory)
            stamp.write_text(wanted)
    return directory / "bin" / "python"


@contextmanager
def _only_one(directory: Path) -> Iterator[None]:
    """Keep others out until the block ends."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def enterable(*directories: Path) -> Path:
    """Return the first of these directories that the agent's user can enter."""
    for directory in directories:
        if subprocess.run([*AS_NOBODY, "test", "-x", directory], check=False).returncode == 0:
            return directory
    raise SystemExit(f"The agent can't run here: uid {NOBODY} can enter none of {', '.join(map(str, directories))}")


def temporary() -> Path:
    """Return a directory for temporary files that the agent's user can enter."""
    return enterable(Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"))


def _place() -> Path:
    """Return the directory for the environment, which is ours."""
    parent = enterable(ROOT, temporary())
    above = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    place = parent / (".venv-agent" if parent == ROOT else f"ironic-agent-{above}")
    place.mkdir(exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        raise SystemExit(f"{place} is somebody else's; remove it")
    place.chmod(0o755)
    return place


def _fingerprint() -> str:
    """Return what tells one such environment from another."""
    files = [path.read_bytes() for path in sorted(PLUGIN.iterdir()) if path.is_file()]
    return hashlib.sha256(b"\0".join([AGENT.encode(), _base_python().encode(), *files])).hexdigest()


def _base_python() -> str:
    """Return a Python outside of any virtual environment that the agent's user can run."""
    own = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (own, "/usr/bin/python3"):
        if subprocess.run([*AS_NOBODY, candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    raise SystemExit(f"uid {NOBODY} can run neither {own} nor /usr/bin/python3")


def _make(directory: Path) -> None:
    print(f"Installing {AGENT} into {directory} ...", flush=True)
    python = directory / "bin" / "python"
    install = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "--no-input", "install"]
    _run([_base_python(), "-m", "venv", "--clear", directory])
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(PLUGIN, copy, dirs_exist_ok=True)  # building leaves things behind
        _run([*install, AGENT, copy])
    _run([*AS_NOBODY, python, "-c", CHECK])


def _run(command: list[str | Path]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, umask=0o022, cwd="/")


def main() -> int:
    """Make it, for those who may."""
    if os.geteuid() != 0:
        print("The real agent can be run by root only: its tests will fail here.")
    else:
        ensure()
    return 0


if __name__ == "__main__":
    sys.exit(main())

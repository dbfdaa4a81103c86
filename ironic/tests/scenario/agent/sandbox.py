"""A place where the real agent runs as a process and can do nothing to this host.

The first of three layers, made of kernel features: a mount and a process namespace of its own; an empty /dev without
disks; a private /run and /var/log, and a private copy of /etc; uid and gid 65534; no capabilities, and none to be had.
The other two layers are in confined.py, which checks this one first. Needs root, to make the namespaces.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ironic.tests.repository import tool

NOBODY = 65534
POWERED_OFF, RESTARTED = 10, 11

_CONFINED = Path(__file__).with_name("confined.py")
_DISK_BYTES = 8 << 20
# Seconds after which it ends even if the tests were killed before they could end it.
_LONGEST = "900"

# What root does inside of the namespaces before it drops its privileges. $SB is the agent's directory.
_SCRIPT = r"""
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755,size=1m tmpfs "$SB/dev"
for n in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 "$SB/dev/${n%:*}" c 1 ${n#*:}
done
ln -s /proc/self/fd "$SB/dev/fd"
ln -s /proc/self/fd/1 "$SB/dev/stdout"
ln -s /proc/self/fd/2 "$SB/dev/stderr"
mkdir -m 1777 "$SB/dev/shm"
mount --bind "$SB/dev" /dev
mount -t tmpfs -o mode=755,size=4m tmpfs /run
mkdir /run/ironic-python-agent
chown 65534:65534 /run/ironic-python-agent
mount -t tmpfs -o mode=755,size=64m tmpfs "$SB/etc"
cp -a /etc/. "$SB/etc/"
mkdir -p -m 755 "$SB/etc/ipa-rescue-config"
chown 65534:65534 "$SB/etc/ipa-rescue-config"
mount --bind "$SB/etc" /etc
mount -t tmpfs -o mode=755,size=4m tmpfs /var/log
echo "The ramdisk has started." > /var/log/messages
mount --bind "$SB/cmdline" /proc/cmdline
for f in /proc/sysrq-trigger /proc/kcore; do
  if [ -e $f ]; then mount --bind /dev/null $f; fi
done
exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
  --ambient-caps=-all --bounding-set=-all --no-new-privs \
  env -i PATH=/usr/bin:/bin HOME="$SB" LANG=C.UTF-8 TMPDIR="$SB" LOOPBACK_DIR="$SB" \
  LOOPBACK_INVENTORY="$SB/inventory.json" LOOPBACK_DISK="$SB/disk.img" LOOPBACK_LOG="$SB/hardware.log" \
  LOOPBACK_STEP_TIME="$STEP_TIME" LOOPBACK_VERSION="$VERSION" \
  "$PY" "$SB/confined.py"
"""


@dataclass(frozen=True)
class Sandbox:
    """The agent's directory: its configuration, its output, and its disk, over any number of starts."""

    directory: Path

    def path(self, name: str) -> Path:
        """Return the path of one of its files."""
        return self.directory / name

    def text(self, name: str) -> str:
        """Return what stands in one of its files; nothing when it does not exist yet."""
        path = self.path(name)
        return path.read_text() if path.exists() else ""

    def start(self, options: Mapping[str, object], *, version: str = "1.0", step_time: float = 0.2) -> "Confined":
        """Boot the agent with these options of its own and the kernel command line in file ``cmdline``.

        ``version`` is that of its hardware manager, ``step_time`` how long its harmless steps take in seconds.
        """
        lines = [f"{name} = {value}\n" for name, value in options.items()]
        self.path("agent.conf").write_text("".join(["[DEFAULT]\n", *lines, f"log_file = {self.path('agent.log')}\n"]))
        os.chown(self.path("agent.conf"), NOBODY, NOBODY)
        python = tool("agent_venv").ensure()
        environment = {"SB": str(self.directory), "PY": str(python), "VERSION": version, "STEP_TIME": str(step_time)}
        return Confined(environment, self.path("output.log"))


class Confined:
    """One running agent."""

    def __init__(self, environment: Mapping[str, str], output: Path) -> None:
        with output.open("ab") as file:
            self._process = subprocess.Popen(
                ["timeout", "--signal=KILL", _LONGEST, "unshare", "--mount", "--pid", "--fork", "sh", "-c", _SCRIPT],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def wait(self) -> int:
        """Wait for its end; return 10 after a command to power the machine off, 11 to restart it."""
        return self._process.wait()

    def kill(self) -> None:
        """Cut the power."""
        # unshare hands no signal on, and the change of uid takes away the child's signal at its parent's death.
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def sandbox(inventory: Path) -> Iterator[Sandbox]:
    """Make a directory for an unprivileged user, for a machine with this inventory and an empty disk."""
    with tempfile.TemporaryDirectory(prefix="ironic-agent-", dir=tool("agent_venv").temporary()) as name:
        directory = Path(name)
        for folder in ("dev", "etc"):
            (directory / folder).mkdir()
        shutil.copy(inventory, directory / "inventory.json")
        shutil.copy(_CONFINED, directory / "confined.py")
        with (directory / "disk.img").open("wb") as disk:
            disk.truncate(_DISK_BYTES)
        for path in (directory, *directory.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        yield Sandbox(directory)

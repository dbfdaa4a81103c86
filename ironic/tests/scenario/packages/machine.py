"""A root directory of Debian, and the same one as a machine: its own systemd as process 1, in namespaces of its own.

It needs root. The machine has no network but a loopback of its own, so its ports disturb no other program.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# What a host has before the service comes: its manager, and what the tests ask and watch with. What the package depends
# on is not among it.
_PACKAGES: Final = ("apt", "curl", "dbus", "dnsmasq-base", "systemd", "systemd-sysv")
_BOOT_SECONDS: Final = 60.0

_NAMESPACES: Final = ("--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup")

# The group of control comes first, as the namespace begins at the group of who makes it.
_BOOT: Final = """
echo $$ > "$GROUP/cgroup.procs"
exec unshare --mount --pid --fork --uts --ipc --cgroup --net --kill-child sh -c '
set -e
mount --bind "$ROOT" "$ROOT"
for place in run tmp dev; do mount -t tmpfs tmpfs "$ROOT/$place"; done
mkdir "$ROOT/dev/shm" "$ROOT/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$ROOT/dev/pts"
ln -s pts/ptmx "$ROOT/dev/ptmx"
for device in null zero full random urandom tty; do
    touch "$ROOT/dev/$device" && mount --bind "/dev/$device" "$ROOT/dev/$device"
done
mount -t proc proc "$ROOT/proc"
mount -t sysfs -o ro sysfs "$ROOT/sys"
mount -t cgroup2 cgroup2 "$ROOT/sys/fs/cgroup"
mkdir "$ROOT/run/old"
cd "$ROOT"
pivot_root . run/old
cd /
umount --lazy /run/old
exec /lib/systemd/systemd --system --log-target=journal'
"""


def debian(archive: Path) -> None:
    """Write a small Debian with what a host has into an archive of tar."""
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={','.join(_PACKAGES)}"]
    subprocess.run([*command, "bookworm", archive], check=True)


def unpack(archive: Path, root: Path) -> None:
    """Make a root directory of the archive."""
    root.mkdir()
    # What is in /dev comes with the machine; where namespaces end there, devices can't be made.
    subprocess.run(["tar", "-C", root, "--exclude=./dev/*", "-xf", archive], check=True)


def inside(root: Path, *words: str, network: bool = False) -> "subprocess.CompletedProcess[str]":
    """Run a command in the root directory, without a manager; it may fail. ``network`` gives it that of this host."""
    environ = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
    apart = ["--mount"] if network else ["--mount", "--net"]
    return subprocess.run(
        ["unshare", *apart, "sh", "-c", _IN_ROOT, "sh", root, *words],
        env=environ, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip


_IN_ROOT: Final = """
root=$1; shift
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && exec chroot "$root" "$@"
"""


class Machine:
    """The root directory with systemd running in it, until `close`."""

    def __init__(self, root: Path) -> None:
        self._group = _groups() / f"ironic-machine-{os.getpid()}"
        self._group.mkdir()
        environ = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "ROOT": str(root), "GROUP": str(self._group)}
        environ["container"] = "other"
        self._unshared = subprocess.Popen(
            ["sh", "-c", _BOOT], env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        try:
            self._first = self._wait_for_first()
            self._wait_for_boot()
        except BaseException:
            self.close()
            raise

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command on the machine as root; it may fail."""
        return subprocess.run(
            ["nsenter", "--target", self._first, *_NAMESPACES, "--", *words],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SYSTEMD_PAGER": ""},
            capture_output=True,
            text=True,
            timeout=200,
            stdin=subprocess.DEVNULL,
        )

    def output(self, *words: str) -> str:
        """Return what a command prints; it has to succeed."""
        done = self.run(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    @contextlib.contextmanager
    def network(self) -> Iterator[None]:
        """Have this thread, and the threads and processes that it starts, on the loopback of the machine."""
        with open("/proc/thread-self/ns/net") as own, open(f"/proc/{self._first}/ns/net") as other:
            _enter(other.fileno())
            try:
                yield
            finally:
                _enter(own.fileno())

    def close(self) -> None:
        """End everything at once: the end of process 1 is that of its namespace."""
        self._unshared.kill()
        self._unshared.wait(timeout=30)
        end = time.monotonic() + 30
        while (self._group / "cgroup.events").read_text().find("populated 1") >= 0 and time.monotonic() < end:
            time.sleep(0.1)
        for path in sorted(self._group.rglob("*"), key=lambda each: len(each.parts), reverse=True):
            if path.is_dir():
                path.rmdir()
        self._group.rmdir()

    def _wait_for_first(self) -> str:
        number = self._unshared.pid
        end = time.monotonic() + _BOOT_SECONDS
        while time.monotonic() < end:
            children = Path(f"/proc/{number}/task/{number}/children")
            first = children.read_text().split() if children.exists() else []
            if first and Path(f"/proc/{first[0]}/comm").read_text().strip() == "systemd":
                return first[0]
            assert self._unshared.poll() is None, "the machine has not begun"
            time.sleep(0.1)
        raise AssertionError("systemd does not start")

    def _wait_for_boot(self) -> None:
        end = time.monotonic() + _BOOT_SECONDS
        while (state := self.run("systemctl", "is-system-running").stdout.strip()) not in ("running", "degraded"):
            assert time.monotonic() < end, f"the machine is still {state}"
            time.sleep(0.3)


def _enter(namespace: int) -> None:
    # Python has a function for it since 3.12.
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(namespace, 0) != 0:
        raise OSError(ctypes.get_errno(), "the network can't be entered")


def _groups() -> Path:
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    return next(Path(words[1]) for words in mounts if words[2] == "cgroup2")


def remove(root: Path) -> None:
    """Remove a root directory."""
    shutil.rmtree(root)

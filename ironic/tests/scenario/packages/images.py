"""Images and containers with a storage of their own: buildah builds them of a local base, podman and runc run them.

It needs root, and fetches nothing but Debian's packages. The limits are those that a host without CAP_SYS_RESOURCE may
set.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from ironic.tests.repository import ROOT

BASE: Final = "localhost/debian-base"
_RUN: Final = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096")


class Images:
    """Builds by the recipes of etc/container; `close` removes all of it."""

    def __init__(self, directory: Path, wheels: Path) -> None:
        self._storage = ["--root", str(directory / "storage"), "--runroot", str(directory / "run")]
        self._storage += ["--storage-driver", "vfs"]
        self._context = directory / "context"
        shutil.copytree(ROOT / "etc", self._context / "etc")
        shutil.copytree(wheels, self._context / "dist")
        archive = directory / "base.tar"
        command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "bookworm", str(archive)]
        subprocess.run(command, check=True)
        self.podman("import", archive, BASE)

    def build(self, recipe: str, name: str) -> None:
        """Build an image by a recipe below etc/container, as `make image` does; AssertionError with what it printed."""
        words = [*self._storage, "build", "--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={BASE}"]
        words += ["--tag", name, "--file", str(self._context / "etc" / "container" / recipe), str(self._context)]
        done = subprocess.run(["buildah", *words], capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    def start(self, name: str, image: str, *words: str) -> None:
        """Start a container with a root that is only read, no capabilities and a network of its own host."""
        hardened = ("--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=host")
        self.podman("run", "--detach", "--name", name, *hardened, *words[:-1], image, *words[-1].split())

    def podman(self, *words: str | Path) -> str:
        """Return what podman prints; AssertionError with the reason where it fails."""
        said = [str(word) for word in words]
        command = ["podman", *self._storage, "--runtime", "runc", "--cgroup-manager", "cgroupfs", said[0]]
        command += [*(_RUN if said[0] == "run" else ()), *said[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def close(self) -> None:
        """End the containers and remove the images."""
        self.podman("rm", "--all", "--force", "--time", "0")
        self.podman("rmi", "--all", "--force")

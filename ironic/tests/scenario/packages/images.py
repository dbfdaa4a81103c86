"""Images and containers with a storage of their own: buildah builds them of a local base, podman and runc run them.

It needs root, and fetches nothing but Debian's packages. The limits are those that a host without CAP_SYS_RESOURCE may
set.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from ironic.tests.repository import ROOT

BASE: Final = "localhost/debian-base"
SERVERS: Final = Path(__file__).parent / "servers"
_STORAGE: Final = '[storage]\ndriver = "{driver}"\ngraphroot = "{directory}/storage"\nrunroot = "{directory}/run"\n'
_ENGINE: Final = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "{directory}/networks"
"""


class Images:
    """Builds by the recipes of etc/container; `close` removes all of it.

    ``environ`` is the environment in which podman and buildah find these images.
    """

    def __init__(self, directory: Path, wheels: Path) -> None:
        storage, engine = directory / "storage.conf", directory / "containers.conf"
        self.environ = {**os.environ, "CONTAINERS_STORAGE_CONF": str(storage), "CONTAINERS_CONF": str(engine)}
        engine.write_text(_ENGINE.format(directory=directory))
        # Left to itself the storage takes the best driver that works here: vfs, the last one, copies a GB a layer.
        storage.write_text(_STORAGE.format(directory=directory, driver=""))
        driver = self.podman("info", "--format", "{{.Store.GraphDriverName}}")
        storage.write_text(_STORAGE.format(directory=directory, driver=driver))
        self._context = directory / "context"
        shutil.copytree(ROOT / "etc", self._context / "etc")
        shutil.copytree(wheels, self._context / "dist")
        archive = directory / "base.tar"
        command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "bookworm", str(archive)]
        subprocess.run(command, check=True)
        self.podman("import", archive, BASE)

    def build(self, recipe: str, name: str) -> None:
        """Build an image by a recipe below etc/container, as `make image` does; AssertionError with what it printed."""
        self._build(self._context / "etc" / "container" / recipe, self._context, name)

    def build_server(self, server: str, name: str) -> None:
        """Build the image of a server that compose.yaml takes from a registry, of Debian's package instead."""
        self._build(SERVERS / f"Containerfile.{server}", SERVERS, name)

    def _build(self, recipe: Path, context: Path, name: str) -> None:
        words = ["build", "--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={BASE}"]
        words += ["--tag", name, "--file", str(recipe), str(context)]
        done = subprocess.run(["buildah", *words], env=self.environ, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    def start(self, name: str, image: str, *words: str) -> None:
        """Start a container with a root that is only read, no capabilities and a network of its own host."""
        hardened = ("--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=host")
        self.podman("run", "--detach", "--name", name, *hardened, *words[:-1], image, *words[-1].split())

    def podman(self, *words: str | Path, before: tuple[str, ...] = ()) -> str:
        """Return what podman prints; AssertionError with the reason where it fails. ``before`` is a command's begin."""
        command = [*before, "podman", *map(str, words)]
        done = subprocess.run(
            command, env=self.environ, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def written(self, name: str, before: tuple[str, ...] = ()) -> set[str]:
        """Return what differs from the image in the root of a container that runs, but for the places of mounts."""
        mounts = self.podman("exec", name, "cat", "/proc/self/mountinfo", before=before)
        places = {Path(line.split()[4]) for line in mounts.splitlines()}
        changed = {line.split(maxsplit=1)[1] for line in self.podman("diff", name, before=before).splitlines()}
        return changed - {str(path) for place in places for path in (place, *place.parents)}

    def close(self) -> None:
        """End the containers and remove the images."""
        self.podman("rm", "--all", "--force", "--time", "0")
        self.podman("rmi", "--all", "--force")

"""Screens in real containers: an image made from programs of this host, and podman with a storage of its own.

The image has TigerVNC's server and a terminal of one colour, whose program writes what is typed to a file; it ends when
the conductor gave it no application. Nothing is fetched. It needs root, podman and runc; the limits are those that also
a host without CAP_SYS_RESOURCE may set.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from ironic.tests.repository import ROOT

IMAGE: Final = "localhost/ironic-screen:1"
_PROGRAMS: Final = ("Xtigervnc", "xkbcomp", "xterm", "sh", "cat")
_LIMITS: Final = "--ulimit nofile=1024:1024 --ulimit nproc=4096:4096"
_TYPED: Final = "/tmp/typed"

_SHOW = """\
#!/bin/sh
: "${{APP:?}}" "${{APP_INFO:?}}" "${{READ_ONLY:?}}"
Xtigervnc :1 -rfbport 5900 -SecurityTypes None -geometry 320x240 -depth 24 &
until xterm -display :1 -geometry 80x24+0+0 -bg '{colour}' -fg black +sb -b 0 -bw 0 -e sh -c 'exec cat > {typed}'
do :; done
"""

_PODMAN = """\
#!/bin/sh
exec podman --root {directory}/storage --runroot {directory}/run --runtime runc --cgroup-manager cgroupfs "$@"
"""


class PodmanScreens:
    """Makes the image, and says what [vnc] needs for its containers."""

    def __init__(self, directory: Path, colour: str) -> None:
        self._podman = directory / "podman"
        self._podman.write_text(_PODMAN.format(directory=directory))
        self._podman.chmod(0o755)
        shipped = ROOT / "ironic" / "drivers" / "modules" / "graphical" / "templates" / "container-command.j2"
        template = directory / "command.j2"
        template.write_text(shipped.read_text().replace("run ", f"run {_LIMITS} ", 1))
        self.options: dict[str, object] = {
            "container_executable": self._podman,
            "container_command_template": template,
            "console_image": IMAGE,
        }
        self._make_image(directory, colour)

    def run(self, *arguments: object) -> str:
        """Return what podman writes."""
        words = [str(self._podman), *map(str, arguments)]
        return subprocess.run(words, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout

    def running(self) -> list[str]:
        """Return the names of the containers."""
        return self.run("ps", "--all", "--format", "{{.Names}}").split()

    def typed(self) -> str:
        """Return what was typed on the only screen."""
        (name,) = self.running()
        return self.run("exec", name, "cat", _TYPED)

    def close(self) -> None:
        """Remove what was made."""
        self.run("rm", "--all", "--force", "--time", "0")
        self.run("rmi", "--force", IMAGE)

    def _make_image(self, directory: Path, colour: str) -> None:
        root, archive = directory / "root", directory / "root.tar"
        files = {f"usr/bin/{name}": Path(shutil.which(name) or name).resolve() for name in _PROGRAMS}
        listed = subprocess.run(["ldd", *files.values()], check=True, capture_output=True, text=True).stdout
        libraries = {Path(word) for word in listed.split() if word.startswith("/") and not word.endswith(":")}
        for inside, outside in {**files, **{str(path).lstrip("/"): path for path in libraries}}.items():
            (root / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(outside, root / inside)
        (root / "bin").symlink_to("usr/bin")
        shutil.copytree("/usr/share/X11/xkb", root / "usr/share/X11/xkb", symlinks=True)
        for inside in ("tmp", "tmp/.X11-unix"):
            (root / inside).mkdir()
            (root / inside).chmod(0o1777)
        show = root / "usr/bin/show"
        show.write_text(_SHOW.format(colour=colour, typed=_TYPED))
        show.chmod(0o755)
        subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
        self.run("import", "--change", 'CMD ["/usr/bin/show"]', archive, IMAGE)
        shutil.rmtree(root)
        archive.unlink()

"""Provider `systemd`: a unit of the service's user, which Quadlet makes of a file and Podman runs.

The credentials are in a file of their own beside the unit, which only this user may read.
"""

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.graphical.container_command import published
from ironic.drivers.modules.graphical.containers import (
    Address,
    BaseConsoleContainer,
    conductor_label,
    environment,
    name_of,
    uuids_of,
)
from ironic.drivers.modules.graphical.programs import Programs

_UNITS: Final = Path("/etc/containers/systemd/users")
_PATTERN: Final = "ironic-console-*.container"


class SystemdConsoleContainer(BaseConsoleContainer):
    """Writes units below ``directory``, by default that of Quadlet for this user, and has systemd start them."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or _UNITS / str(os.geteuid())
        self._programs = Programs("systemd", "systemctl", "podman")
        self._programs.template(CONF.vnc.systemd_container_template)

    def start_container(self, task: Task, app_name: str, app_info: Mapping[str, object]) -> Address:
        name = name_of(task.node.uuid)
        variables = environment(app_name, app_info)
        secret = self._file(name, ".env")
        values = {
            "node": task.node.uuid,
            "conductor": conductor_label(),
            "image": self._programs.image(),
            "port": CONF.vnc.systemd_container_publish_port,
            "environment_file": str(secret),
        }
        unit = self._programs.render(self._programs.template(CONF.vnc.systemd_container_template), values)
        try:
            # The unit is what the next life of a conductor finds, and the secret with it.
            self._write(self._file(name, ".container"), unit)
            self._write(secret, "".join(f"{key}={value}\n" for key, value in variables.items()))
            self._systemctl("daemon-reload")
            self._systemctl("restart", f"{name}.service")
            address = published(self._programs.run(["podman", "port", f"systemd-{name}"]))
            if address is None:
                raise self._programs.failed(f"container systemd-{name} publishes no port for VNC")
            self._programs.await_vnc(address)
        except BaseException:
            self._remove([name])
            raise
        return address

    def stop_container(self, task: Task) -> None:
        self._remove([name_of(task.node.uuid)])

    def stop_all_containers(self) -> None:
        self._remove(self._own())

    def started(self) -> dict[str, Callable[[], None]]:
        return {uuid: functools.partial(self._remove, [name_of(uuid)]) for uuid in uuids_of(self._own())}

    def _own(self) -> list[str]:
        """Return the names of the units that this conductor has written."""
        mark = f"org.openstack.ironic.conductor={conductor_label()}\n"
        with self._file_errors():
            paths = list(self._directory.glob(_PATTERN))
            return [path.stem for path in paths if mark in path.read_text(errors="replace")]

    def _remove(self, names: list[str]) -> None:
        present = [name for name in names if self._file(name, ".container").exists()]
        try:
            for name in present:
                self._systemctl("stop", f"{name}.service")
        finally:
            with self._file_errors():
                for name in names:
                    self._file(name, ".container").unlink(missing_ok=True)
                    self._file(name, ".env").unlink(missing_ok=True)
            if present:
                self._systemctl("daemon-reload")

    def _file(self, name: str, suffix: str) -> Path:
        return self._directory / f"{name}{suffix}"

    def _write(self, path: Path, text: str) -> None:
        with self._file_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(text)

    @contextmanager
    def _file_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._programs.failed(f"{error.filename or self._directory}: {error.strerror}") from error

    def _systemctl(self, *arguments: str) -> None:
        self._programs.run(["systemctl", "--user", *arguments])

"""Provider `container`: a program like docker or podman.

The credentials reach the container through the environment of the program, whose arguments name the variables only.
"""

import functools
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Final

from ironic.conf import CONF
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.graphical.containers import (
    Address,
    BaseConsoleContainer,
    conductor_label,
    environment,
    name_of,
    uuids_of,
)
from ironic.drivers.modules.graphical.programs import Programs

_EVERYWHERE: Final = ("0.0.0.0", "::")
# A line of what the program says of a port: "0.0.0.0:49153" or "[::]:49153".
_PUBLISHED: Final = re.compile(r"(?:\S+ -> )?\[?(?P<host>[^\s\]]+?)\]?:(?P<port>\d{1,5})")


class ContainerConsoleContainer(BaseConsoleContainer):
    """Runs the program of [vnc]container_executable."""

    def __init__(self) -> None:
        self._programs = Programs("container", CONF.vnc.container_executable)
        self._programs.image()
        self._programs.template(CONF.vnc.container_command_template)

    def start_container(self, task: Task, app_name: str, app_info: Mapping[str, object]) -> Address:
        self.stop_container(task)
        name = name_of(task.node.uuid)
        values = {
            "name": name,
            "conductor": conductor_label(),
            "node": task.node.uuid,
            "port": CONF.vnc.container_publish_port,
            "image": self._programs.image(),
        }
        words = self._words(values)
        try:
            self._run(*words, variables=environment(app_name, app_info))
            address = published(self._run("port", name, "5900/tcp")) or published(self._run("port", name))
            if address is None:
                raise self._programs.failed(f"container {name} publishes no port for VNC")
            self._programs.await_vnc(address)
        except BaseException:
            self.stop_container(task)
            raise
        return address

    def stop_container(self, task: Task) -> None:
        self._remove(_named(task.node.uuid))

    def stop_all_containers(self) -> None:
        self._remove(_own())

    def started(self) -> dict[str, Callable[[], None]]:
        names = self._run("ps", "--all", "--format", "{{.Names}}", "--filter", _own()).split()
        return {uuid: functools.partial(self._remove, _named(uuid), _own()) for uuid in uuids_of(names)}

    def _remove(self, *conditions: str) -> None:
        filters = [word for condition in conditions for word in ("--filter", condition)]
        ids = self._run("ps", "--all", "--quiet", *filters).split()
        if ids:
            self._run("rm", "--force", *ids)

    def _words(self, values: Mapping[str, object]) -> list[str]:
        template = self._programs.template(CONF.vnc.container_command_template)
        rendered = (self._programs.render(word, values) for word in _split(template))
        return [word for word in rendered if word]

    def _run(self, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
        host = CONF.vnc.container_host
        hosts = {"DOCKER_HOST": host, "CONTAINER_HOST": host} if host else {}
        return self._programs.run([CONF.vnc.container_executable, *arguments], {**hosts, **(variables or {})})


def _named(uuid: str) -> str:
    return f"name=^/?{name_of(uuid)}$"


def _own() -> str:
    return f"label=org.openstack.ironic.conductor={conductor_label()}"


def _split(template: str) -> list[str]:
    """Return the words of a template, as a shell splits them; one in braces stays whole, to the end without theirs."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found.group())
        return f"\0{len(kept) - 1}\0"

    words = shlex.split(re.sub(r"(?s)\{\{.*?(?:\}\}|\Z)", keep, template), comments=True)
    return [re.sub("\0(\\d+)\0", lambda found: kept[int(found.group(1))], word) for word in words]


def published(said: str) -> Address | None:
    """Return the address of the first port in what the program says; an address for all of this host's is my_ip."""
    for line in said.splitlines():
        if found := _PUBLISHED.fullmatch(line.strip()):
            host = found["host"]
            return (CONF.my_ip if host in _EVERYWHERE else host), int(found["port"])
    return None

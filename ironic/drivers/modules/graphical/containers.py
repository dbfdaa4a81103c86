"""Providers of containers that show the screen of a machine over VNC.

A provider is a class under the entry point group `ironic.console.container`, chosen by [vnc]container_provider and made
without arguments when the conductor starts, so that what it lacks is said then. The application gets what it needs from
the environment of its container; its credentials are in no argument of a command.
"""

import functools
import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import DriverLoadError
from ironic.core.texts.syntax import is_stored_uuid
from ironic.drivers.contract.task import Task

LOG = logging.getLogger(__name__)

GROUP: Final = "ironic.console.container"

Address = tuple[str, int]


class BaseConsoleContainer(ABC):
    """Starts and removes containers. The methods raise ConsoleContainerError, and may be repeated."""

    @abstractmethod
    def start_container(self, task: Task, app_name: str, app_info: Mapping[str, object]) -> Address:
        """Start the container of a node in the place of an earlier one; return host and port of its VNC server."""

    @abstractmethod
    def stop_container(self, task: Task) -> None:
        """Remove the container of a node, if there is one."""

    @abstractmethod
    def stop_all_containers(self) -> None:
        """Remove all containers that this conductor has started."""

    def started(self) -> Mapping[str, Callable[[], None]]:
        """Return by UUID the nodes whose containers this conductor has started; a provider need not know them.

        The values remove the container of the node, and none that another conductor has started.
        """
        return {}


class FakeConsoleContainer(BaseConsoleContainer):
    """Starts nothing: the address is one of those for documentation."""

    def start_container(self, task: Task, app_name: str, app_info: Mapping[str, object]) -> Address:
        return "192.0.2.1", 5900

    def stop_container(self, task: Task) -> None:
        pass

    def stop_all_containers(self) -> None:
        pass


def provider() -> BaseConsoleContainer:
    """Return the provider of [vnc]container_provider, made once; raise DriverLoadError when there is none."""
    return _provider(CONF.vnc.container_provider)


@functools.cache
def _provider(name: str) -> BaseConsoleContainer:
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        raise DriverLoadError(
            faults=[f"[vnc]container_provider is {name!r}; set it to one of: {', '.join(sorted(found))}"]
        )
    made: BaseConsoleContainer = found[name].load()()
    return made


def in_use() -> BaseConsoleContainer | None:
    """Return the provider if a console interface of this conductor uses it."""
    return provider() if _provider.cache_info().currsize else None


def sweep(is_needed: Callable[[str], bool]) -> None:
    """Remove the containers that this conductor has started for nodes that need none here.

    Raises ConsoleContainerError.
    """
    if used := in_use():
        for uuid, stop in used.started().items():
            if not is_needed(uuid):
                LOG.info("Node %s: the container of its console is removed, because the node needs none here", uuid)
                stop()


_PREFIX: Final = "ironic-console-"
_LABEL: Final = re.compile(r"[^A-Za-z0-9._-]")


def name_of(uuid: str) -> str:
    """Return the name of a node's container."""
    return f"{_PREFIX}{uuid}"


def uuids_of(names: Iterable[str]) -> list[str]:
    """Return the UUIDs of the nodes whose containers have these names; a template may give other names."""
    return sorted({name.removeprefix(_PREFIX) for name in names if is_stored_uuid(name.removeprefix(_PREFIX))})


def conductor_label() -> str:
    """Return the name of this conductor as a label of Kubernetes may have it."""
    return _LABEL.sub("-", CONF.host)[:63].strip("-._") or "conductor"


def environment(app_name: str, app_info: Mapping[str, object]) -> dict[str, str]:
    """Return the variables of a container, which hold the credentials of the BMC."""
    return {"APP": app_name, "APP_INFO": json.dumps(app_info), "READ_ONLY": str(CONF.vnc.read_only)}

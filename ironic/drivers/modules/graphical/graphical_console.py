"""Base of graphical consoles: a container shows the screen over VNC, a token opens it in a browser for some time."""

import logging
from abc import abstractmethod
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from ironic.conf import CONF
from ironic.core.bmc_readings import Console
from ironic.core.memory import console_tokens
from ironic.core.memory.console_tokens import TOKEN, ConsoleAccess
from ironic.core.texts import syntax
from ironic.drivers.contract.driver_periodics import node_periodic
from ironic.drivers.contract.interfaces import ConsoleInterface
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.graphical import containers

LOG = logging.getLogger(__name__)

_PAGE: Final = "vnc_lite.html"


class GraphicalConsole(ConsoleInterface):
    """Runs an application in a container; a subclass says which one and with what data."""

    def __init__(self) -> None:
        self._containers = containers.provider()

    @property
    @abstractmethod
    def app_name(self) -> str:
        """The application in the container."""

    @abstractmethod
    def app_info(self, task: Task) -> Mapping[str, object]:
        """Return what the application has to know, credentials included."""

    def start_console(self, task: Task) -> None:
        """Open the console, in the place of an earlier one, with a new token."""
        host, port = self._containers.start_container(task, self.app_name, self.app_info(task))
        ConsoleAccess.granted(host, port, task.node.now()).put(task.node)
        task.node.save()

    def stop_console(self, task: Task) -> None:
        """Close the console; its token is void from the beginning on."""
        console_tokens.forget(task.node)
        task.node.save()
        self._containers.stop_container(task)

    def get_console(self, task: Task) -> Console:
        """Return the URL for a browser, which has the token."""
        access = ConsoleAccess.of(task.node.driver_internal_info)
        if access is None:
            return {}
        path = quote(f"websockify?node={task.node.uuid}&token={access.token}", safe="")
        return {"type": "vnc", "url": f"{_page()}?path={path}"}

    @node_periodic(
        purpose="closing a console whose token has expired",
        spacing=lambda: CONF.vnc.expire_console_session_interval,
        filters={"console_enabled": True, "reserved": False},
        predicate=lambda node: TOKEN.of(node) is not None,
        shared_task=False,
    )
    def close_expired(self, task: Task, manager: object, context: object) -> None:
        """Close the console of a node whose token has expired."""
        access = ConsoleAccess.of(task.node.driver_internal_info)
        if task.node.console_enabled and (access is None or access.is_over(task.node.now(), CONF.vnc.token_timeout)):
            LOG.info("Node %s: its console is closed, because the token has expired", task.node.uuid)
            # Stored together with the loss of the token; a container that can't be removed goes with the conductor.
            task.node.console_enabled = False
            self.stop_console(task)


def _page() -> str:
    options = CONF.vnc
    scheme = "https" if options.enable_ssl else "http"
    url: str = options.public_url or f"{scheme}://{syntax.host_in_url(CONF.my_ip)}:{options.port}/{_PAGE}"
    return url

"""A place for the files of consoles, ports of the loopback, a proxy, and an end for all that was started."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.command.console_proxy import ConsoleProxy
from ironic.conf import CONF
from ironic.db import Store
from ironic.drivers.modules.console import console_processes
from ironic.tests.conftest import Setter
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.consoles.line_console import LineConsole
from ironic.tests.functional.consoles.viewers import Door
from ironic.tests.functional.consoles.vnc import vnc_server
from ironic.tests.live_service import free_port
from ironic.tests.unit.drivers.machine import Work, work_on


@pytest.fixture
def place(tmp_path: Path, conf: Setter) -> Iterator[Path]:
    """Return the directory of the PID files; what runs there is ended with the test."""
    place = tmp_path / "consoles"
    conf(tempdir=str(tmp_path), console__terminal_pid_dir=str(place), console__socat_address="127.0.0.1")
    yield place
    left = [process for process in console_processes.running() if process.pid_file.parent == place]
    console_processes.end(left, 1)


@pytest.fixture
def ports(place: Path, conf: Setter) -> range:
    """Set a range of ports, which are probably free."""
    first = free_port()
    ports = range(first, min(first + 20, 65535))
    conf(console__port_range=[ports])
    return ports


@pytest.fixture
def console() -> LineConsole:
    return LineConsole()


@pytest.fixture
def task(ports: range) -> Work:
    return work_on()


@pytest.fixture
def pid_file(place: Path, task: Any) -> Path:
    return place / f"{task.node.uuid}.pid"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture(scope="module")
def vnc_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with vnc_server(tmp_path_factory.mktemp("vnc")) as port:
        yield port


@pytest.fixture
def pages(tmp_path: Path, conf: Setter) -> Path:
    """Make a directory of pages; the proxy finds it, and a free port."""
    pages = tmp_path / "pages"
    (pages / "core").mkdir(parents=True)
    (pages / "vnc_lite.html").write_text("<html>screen</html>")
    (pages / "core" / "rfb.js").write_text("export {}")
    (pages / ".hidden").write_text("hidden")
    (tmp_path / "secret").write_text("secret")
    (pages / "leads_out").symlink_to(tmp_path / "secret")
    conf(vnc__novnc_web=str(pages), vnc__host_ip="127.0.0.1", vnc__port=0)
    return pages


@pytest.fixture
def proxy(store: Store, pages: Path) -> Iterator[ConsoleProxy]:
    proxy = ConsoleProxy(store, CONF)
    proxy.start()
    yield proxy
    proxy.stop()


@pytest.fixture
def door(store: Store, proxy: ConsoleProxy, vnc_port: int) -> Door:
    return Door(store, proxy, vnc_port)

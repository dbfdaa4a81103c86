"""Serial consoles under real conductors: a console that ends, a conductor that ends, a node that moves."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.drivers.modules.console import console_processes
from ironic.tests.functional.consoles import line_console
from ironic.tests.functional.consoles.lines import kill, processes, talk, until
from ironic.tests.live_service import Options, free_port
from ironic.tests.out_of_tree import lay_out
from ironic.tests.site import Site, eventually, site

ENTRY_POINTS = "[ironic.hardware.interfaces.console]\nline = line_console:LineConsole\n"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Site]:
    """Run an API and two conductors, each with ports and a directory of its own, as on hosts of their own."""
    path = str(lay_out(tmp_path / "package", Path(line_console.__file__), ENTRY_POINTS))
    environments = {name: {"PYTHONPATH": path} for name in ("api", "one", "two")}
    with site(tmp_path, conductors=(), environments=environments) as running:
        for name in ("one", "two"):
            running.start_conductor(name, options(tmp_path, name))
        for name in ("one", "two"):
            running.conductors[name].await_ready()
        yield running
    left = [process for process in console_processes.running() if process.pid_file.parent.parent == tmp_path]
    console_processes.end(left, 1)


def options(directory: Path, name: str) -> Options:
    """Return the options of a conductor; the ports are probably free."""
    first = free_port()
    return {
        "DEFAULT": {"enabled_console_interfaces": "line,no-console", "tempdir": directory},
        "console": {
            "port_range": f"{first}:{min(first + 30, 65535)}",
            "socat_address": "127.0.0.1",
            "terminal_pid_dir": directory / name,
        },
    }


class Machine:
    """A node with a console, and the files of the conductor that it belongs to."""

    def __init__(self, running: Site, directory: Path, owner: str) -> None:
        self._site, self._directory = running, directory
        (node,) = running.nodes_of(owner, console_interface="line")
        self.uuid = node["uuid"]

    def pid_file(self, conductor: str) -> Path:
        return self._directory / conductor / f"{self.uuid}.pid"

    def switch(self, enabled: bool) -> None:
        assert self._site.ask("PUT", f"/v1/nodes/{self.uuid}/states/console", {"enabled": enabled}).status_code == 202
        until(lambda: self.look()["reservation"] is None, "the console is switched")

    def look(self) -> dict[str, Any]:
        return self._site.node(self.uuid)

    def url(self) -> str:
        """Return the URL of the console; empty while it is closed or nobody can be asked."""
        answer = self._site.ask("GET", f"/v1/nodes/{self.uuid}/states/console")
        url: str = (answer.json().get("console_info") or {}).get("url", "")
        return url

    def answers(self) -> bool:
        """Return whether someone who asks for the console now can use it."""
        try:
            return b"hello" in talk(self.url())
        except (AssertionError, OSError, ValueError):
            return False


def test_a_console_that_ends_is_opened_again_and_one_that_ends_twice_is_closed(pair: Site, tmp_path: Path) -> None:
    machine = Machine(pair, tmp_path, "one")
    machine.switch(True)
    assert machine.answers()
    before = machine.look()
    assert (before["console_enabled"], before["last_error"]) == (True, None)
    first = kill(machine.pid_file("one"))
    until(machine.answers, "the console is open again")
    assert int(machine.pid_file("one").read_text()) != first
    assert machine.look()["console_enabled"] is True
    until(lambda: machine.look()["reservation"] is None, "the node is free")
    kill(machine.pid_file("one"))
    until(lambda: not machine.look()["console_enabled"], "the console is closed")
    assert "it has ended twice within 60 seconds: socat was killed by signal 9" in machine.look()["last_error"]
    assert processes(machine.pid_file("one")) == []
    until(lambda: machine.look()["reservation"] is None, "the node is free")
    machine.switch(True)
    assert machine.answers()


def test_a_console_survives_the_end_of_its_conductor_and_follows_its_node(pair: Site, tmp_path: Path) -> None:
    machine = Machine(pair, tmp_path, "two")
    machine.switch(True)
    before = machine.url()
    assert talk(before)
    pair.kill("two")
    assert talk(before), "the console ended with its conductor"
    until(lambda: machine.url() not in ("", before), "the other conductor has the console")
    assert machine.answers()
    pair.start_conductor("two", options(tmp_path, "two")).await_ready()
    until(lambda: not processes(machine.pid_file("one")), "the conductor that has lost the node closes its console")
    until(machine.answers, "the console is open on the first conductor again")
    until(lambda: len(processes(machine.pid_file("two"))) == 1, "only the new one is left")
    assert machine.look()["console_enabled"] is True
    machine.switch(False)
    assert processes(machine.pid_file("two")) == []
    assert machine.url() == ""


def test_a_conductor_that_is_stopped_leaves_its_consoles_open(pair: Site, tmp_path: Path) -> None:
    machine = Machine(pair, tmp_path, "one")
    pair.conductors["two"].stop()
    machine.switch(True)
    url = machine.url()
    pair.conductors["one"].signal(signal.SIGTERM)
    pair.conductors["one"].end()
    assert talk(url)
    # While nobody serves the node, its console is closed by hand.
    pair.start_conductor("one", options(tmp_path, "one")).await_ready()
    until(lambda: machine.url() and machine.answers(), "the console is open")
    until(lambda: len(processes(machine.pid_file("one"))) == 1, "only the new one is left")
    assert pair.ask("DELETE", f"/v1/nodes/{machine.uuid}").status_code == 204
    eventually(lambda: processes(machine.pid_file("one")), [])

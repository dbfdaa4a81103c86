"""What a newcomer does first works as it is written: `make run`, the commands it prints, the file to install."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ironic.tests.live_service import all_in_one, free_port, listens
from ironic.tests.repository import ROOT, tool

PATIENCE = 120


def test_make_run_serves_and_prints_three_commands_that_work(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, f"{ROOT}/tools/run.py", "--directory", f"{tmp_path}/state", "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    try:
        assert service.stdout
        said = "".join(iter(service.stdout.readline, "\n"))
        said += "".join(service.stdout.readline() for _ in range(4))
        commands = re.findall(r"^  (OS_AUTH_TYPE=none .+)$", said, re.MULTILINE)
        assert len(commands) == 3, said
        for each in commands:
            done = subprocess.run(
                each, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
            assert done.returncode == 0, f"{each}: {done.stdout}{done.stderr}"
    finally:
        service.terminate()
        service.communicate(timeout=PATIENCE)
    assert service.returncode == 0
    assert not listens(port)


def test_make_run_leaves_an_edited_configuration_alone(tmp_path: Path) -> None:
    path = tool("run").configure(tmp_path, 1)
    path.write_text(path.read_text() + "# mine\n")
    assert tool("run").configure(tmp_path, 2) == path
    assert path.read_text().endswith("# mine\n")
    assert tool("run").url_of(path) == "http://127.0.0.1:1"


def test_make_run_enables_ipmi_only_where_its_tool_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ", ipmi\n" in tool("run").configure(tmp_path / "with", 1).read_text()
    monkeypatch.setenv("PATH", str(tmp_path))
    without = tool("run").configure(tmp_path / "without", 1).read_text()
    assert not re.search(r"^enabled_.* = .*ipmi", without, re.MULTILINE)


def test_the_file_of_the_installation_serves_once_it_is_filled_in(tmp_path: Path) -> None:
    port = free_port()
    block = re.search(r"```ini\n(.*?)```", (ROOT / "doc" / "install.md").read_text(), re.DOTALL)
    assert block
    text = textwrap.dedent(block[1])
    for old, new in {
        "/var/lib/ironic": str(tmp_path),
        "/var/log/ironic": str(tmp_path),
        "<address on the provisioning network>": f"127.0.0.1\nport = {port}",
        "<the same address>": "127.0.0.1",
    }.items():
        text = text.replace(old, new)
    path = tmp_path / "ironic.conf"
    # Services of other tests have the usual port for files.
    path.write_text(text.replace("[deploy]\n", "[deploy]\nhttp_server_port = 0\n"))
    # The file of the log has the name of the program.
    with all_in_one([path], tmp_path / "ironic.log", port, from_scratch=True) as service:
        assert "WARNING" not in service.log
        assert {driver["name"] for driver in service.get("/v1/drivers").json()["drivers"]} == {"ipmi", "redfish"}

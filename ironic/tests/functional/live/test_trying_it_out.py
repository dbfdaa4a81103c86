"""What a newcomer does first works as it is written: `make run`, the commands it prints, the file to install."""

import os
import re
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import requests

from ironic.tests.live_service import PROGRAMS, all_in_one, free_port, listens
from ironic.tests.repository import ROOT, tool
from ironic.tests.web_server import web_server

PATIENCE = 120


def test_make_run_serves_and_prints_the_five_commands_of_the_readme_which_work(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, f"{ROOT}/tools/run.py", "--directory", f"{tmp_path}/state", "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    try:
        assert service.stdout
        said = "".join(iter(service.stdout.readline, "\n"))
        said += "".join(service.stdout.readline() for _ in range(6))
        (export, *commands) = re.findall(r"^  (.+)$", said, re.MULTILINE)
        readme = re.findall(r"^    baremetal (node .+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
        assert [each.partition(" node ")[2] for each in commands] == [each[len("node ") :] for each in readme[:5]]
        for each in commands:
            done = subprocess.run(
                f"{export}; {each}",
                shell=True,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            assert done.returncode == 0, f"{each}: {done.stdout}{done.stderr}"
        assert "active" in done.stdout and "power on" in done.stdout
        again = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=PATIENCE)
        assert (again.returncode, again.stdout) == (1, "")
        assert f"runs already, in another terminal, and serves http://127.0.0.1:{port}." in again.stderr
        elsewhere = [*command[:-1], str(free_port())]
        again = subprocess.run(elsewhere, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=PATIENCE)
        assert (again.returncode, f"serves http://127.0.0.1:{port}." in again.stderr) == (1, True)
        assert tool("run").url_of(tmp_path / "state" / "ironic.conf") == f"http://127.0.0.1:{port}"
        assert service.poll() is None and listens(port)
    finally:
        service.terminate()
        service.communicate(timeout=PATIENCE)
    assert service.returncode == 0
    assert not listens(port)
    # The machine of the first time is there, so its creation is not proposed again.
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    try:
        assert service.stdout
        said = "".join(iter(service.stdout.readline, "\n"))
        said += "".join(service.stdout.readline() for _ in range(2))
        assert "with the machines of the last time" in said and "node list" in said and "node create" not in said
    finally:
        service.terminate()
        service.communicate(timeout=PATIENCE)


def test_make_run_on_a_taken_port_says_how_to_take_another_and_changes_nothing(tmp_path: Path) -> None:
    run = tool("run")
    configuration = run.configure(tmp_path, free_port())
    before = configuration.read_text()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        command = [sys.executable, f"{ROOT}/tools/run.py", "--directory", str(tmp_path), "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Port {port} of 127.0.0.1 is taken" in done.stderr and f"make run PORT={port + 10}" in done.stderr
    assert configuration.read_text() == before


def test_what_another_service_answers_is_no_greeting_of_this_one(tmp_path: Path) -> None:
    run = tool("run")
    lock = tmp_path / "conductor-localhost-1.lock"
    (tmp_path / "v1").touch()
    with web_server(tmp_path) as answering:
        with subprocess.Popen(["sleep", "2"]) as other:
            lock.write_text("1 life-of-another\n")
            assert not run.await_answer(answering.url, other, tmp_path)
        with subprocess.Popen(["sleep", "60"]) as own:
            lock.write_text(f"{own.pid} life\n")
            assert run.await_answer(answering.url, own, tmp_path)
            own.terminate()


def test_no_line_of_a_page_is_taken_for_an_answer_when_a_block_is_pasted() -> None:
    for block in re.findall(r"```bash\n(.*?)```", page(), re.DOTALL):
        lines = [line.strip() for line in block.strip().splitlines()]
        for asks in ("read ", "apt-get install"):
            assert not any(line.startswith(asks) for line in lines[:-1]), lines


def test_make_run_leaves_an_edited_configuration_alone(tmp_path: Path) -> None:
    path = tool("run").configure(tmp_path, 1)
    path.write_text(path.read_text() + "# mine\n")
    assert tool("run").configure(tmp_path, 2) == path
    assert path.read_text().endswith("# mine\n")
    assert tool("run").url_of(path) == "http://127.0.0.1:1"


def test_make_run_serves_on_another_port_whatever_the_configuration_says(tmp_path: Path) -> None:
    path = tool("run").configure(tmp_path, 1)
    path.write_text(path.read_text() + "[vnc]\nport = 7\n")
    before = path.read_text()
    tool("run").change_port(path, 6395)
    assert tool("run").url_of(path) == "http://127.0.0.1:6395"
    assert path.read_text() == before.replace("port = 1\n", "port = 6395\n").replace(
        "127.0.0.1:1\n", "127.0.0.1:6395\n"
    )


def test_make_run_enables_ipmi_only_where_its_tool_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ", ipmi\n" in tool("run").configure(tmp_path / "with", 1).read_text()
    monkeypatch.setenv("PATH", str(tmp_path))
    without = tool("run").configure(tmp_path / "without", 1).read_text()
    assert not re.search(r"^enabled_.* = .*ipmi", without, re.MULTILINE)


def page() -> str:
    return (ROOT / "doc" / "install.md").read_text()


def install(directory: Path, port: int) -> Path:
    """Write the configuration of the page, filled in, as ironic.conf."""
    block = re.search(r"```ini\n(.*?)```", page(), re.DOTALL)
    assert block
    text = textwrap.dedent(block[1])
    assert re.findall(r"<.+?>", text) == ["<address on the provisioning network>"]
    for old, new in {
        "/var/lib/ironic": str(directory),
        "/var/log/ironic": str(directory),
        "<address on the provisioning network>": "127.0.0.1",
        "[api]\n": f"[api]\nport = {port}\n",
        ":6385": f":{port}",
        # Services of other tests have the usual port for files.
        "[deploy]\n": f"[deploy]\nhttp_server_port = {free_port()}\n",
    }.items():
        assert old in text
        text = text.replace(old, new)
    path = directory / "ironic.conf"
    path.write_text(text)
    return path


def test_the_file_of_the_installation_serves_once_it_is_filled_in(tmp_path: Path) -> None:
    port = free_port()
    path = install(tmp_path, port)
    # The file of the log has the name of the program.
    with all_in_one([path], tmp_path / "ironic.log", port, from_scratch=True) as service:
        assert "WARNING" not in service.log
        assert re.search(r"httpboot is served to machines at http://127\.0\.0\.1:\d+", service.log)
        assert {driver["name"] for driver in service.get("/v1/drivers").json()["drivers"]} == {"ipmi", "redfish"}


def test_https_and_a_password_as_the_page_has_them(tmp_path: Path) -> None:
    port = free_port()
    path = install(tmp_path, port)
    *preparing, checking = map(
        textwrap.dedent, re.findall(r"^   ```bash\n(.*?)^   ```", page(), re.DOTALL | re.MULTILINE)
    )
    here = {
        "/etc/ironic": str(tmp_path), "/opt/ironic/bin": str(PROGRAMS), ":6385": f":{port}",
        "-o root -g ironic ": "", "apt-get install -y apache2-utils\n": "", "systemctl restart ironic\n": "",
    }  # fmt: skip
    assert all(any(old in each for each in (*preparing, checking)) for old in here)

    def typed(*commands: str) -> "subprocess.CompletedProcess[str]":
        script = "\n".join(["set -e", *commands])
        for old, new in here.items():
            script = script.replace(old, new)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        return subprocess.run(
            ["bash", "-c", script], input="a good password\n",
            env=environment, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    done = typed(*preparing)
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("htpasswd", "key.pem")] == [0o640, 0o640]
    assert "a good password" not in path.read_text() + (tmp_path / "htpasswd").read_text()
    with all_in_one([path], tmp_path / "ironic.log", port, from_scratch=True) as service:
        login = "ADDRESS=127.0.0.1; read -r OS_PASSWORD"
        done = typed(login, checking)
        assert (done.returncode, "True" in done.stdout) == (0, True), done.stderr
        assert "WARNING" not in service.log
        assert "401" in typed(login, f"OS_PASSWORD=wrong\n{checking}").stderr
        assert "certificate" in typed(login, f"{checking}".replace("OS_CACERT", "NO_CACERT")).stderr.lower()
        plain = requests.get(f"http://127.0.0.1:{port}/v1", timeout=PATIENCE)
        assert (plain.status_code, plain.text) == (400, "This port speaks TLS: use https.\n")

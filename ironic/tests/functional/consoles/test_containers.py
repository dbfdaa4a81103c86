"""Providers of containers with programs that note what they are given, and start a server that greets as VNC does."""

import json
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.core.errors import DriverLoadError
from ironic.core.errors.hardware_errors import ConsoleContainerError, RedfishError
from ironic.drivers.modules.bmc.login_guard import LoginRefused, guard_of
from ironic.drivers.modules.graphical import containers
from ironic.drivers.modules.graphical.container_command import ContainerConsoleContainer, published
from ironic.drivers.modules.graphical.container_kubernetes import KubernetesConsoleContainer
from ironic.drivers.modules.graphical.container_systemd import SystemdConsoleContainer
from ironic.drivers.modules.graphical.programs import Programs as RealPrograms
from ironic.drivers.modules.redfish.graphical_console import RedfishGraphicalConsole
from ironic.tests.conftest import Setter
from ironic.tests.functional.consoles.lines import until
from ironic.tests.unit.drivers.machine import UUID, work_on

NAME = f"ironic-console-{UUID}"
PASSWORD = "hunter2 'with\" {{ blanks }} $(id)"
INFO = {"address": "https://192.0.2.7", "password": PASSWORD}

_NOTES = """#!{python}
import json, os, sys
with open({notes!r}, "a") as file:
    said = {{"arguments": sys.argv, "environment": dict(os.environ), "input": sys.stdin.read()}}
    file.write(json.dumps(said) + "\\n")
answers = {answers!r}
for key, (status, text) in answers.items():
    if key in " ".join(sys.argv[1:]):
        print(text, file=sys.stderr if status else sys.stdout)
        sys.exit(status)
"""


class Programs:
    """Programs on a path of their own, and what each of their runs was given."""

    def __init__(self, directory: Path) -> None:
        self.directory, self._notes = directory, directory / "notes"

    def add(self, name: str, **answers: tuple[int, str]) -> None:
        """Make a program that answers a run whose arguments contain a key with a status and a text."""
        path = self.directory / name
        path.write_text(_NOTES.format(python=sys.executable, notes=str(self._notes), answers=answers))
        path.chmod(0o755)

    @property
    def runs(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._notes.read_text().splitlines()] if self._notes.exists() else []

    def run(self, *words: str) -> dict[str, Any]:
        """Return the first run with these words among its arguments."""
        return next(run for run in self.runs if set(words) <= set(run["arguments"]))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: Setter) -> Programs:
    directory = tmp_path / "programs"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    conf(vnc__console_image="example.org/console:1", host="conductor-1", my_ip="127.0.0.1")
    return Programs(directory)


@pytest.fixture
def vnc() -> Iterator[int]:
    """Run a server that greets; return its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def greet() -> None:
        while True:
            try:
                client, _address = listener.accept()
            except OSError:
                return
            with client:
                client.sendall(b"RFB 003.008\n")

    threading.Thread(target=greet, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def secretless(programs: Programs, *, but: Callable[[dict[str, Any]], bool] = lambda _run: False) -> bool:
    """Return whether the password is in no argument, and in no environment but of one run."""
    marked = "hunter2"
    return all(
        marked not in str(run["arguments"]) and (but(run) or marked not in str(run["environment"]) + run["input"])
        for run in programs.runs
    )


def is_start(run: dict[str, Any]) -> bool:
    return "run" in run["arguments"]


def test_a_container_gets_its_credentials_by_environment(programs: Programs, vnc: int, conf: Setter) -> None:
    conf(vnc__container_host="unix:///run/podman.sock", vnc__read_only=True)
    programs.add("docker", port=(0, f"0.0.0.0:{vnc}"), ps=(0, "abc\ndef"))
    provider = ContainerConsoleContainer()
    assert provider.start_container(work_on(), "fake", INFO) == ("127.0.0.1", vnc)
    start = programs.run("run")
    assert start["arguments"][1:] == [
        *("run", "--detach", "--rm", "--name", NAME, "--label", "org.openstack.ironic.console=true"),
        *("--label", "org.openstack.ironic.conductor=conductor-1", "--label", f"org.openstack.ironic.node={UUID}"),
        *("--publish", "127.0.0.1::5900", "--env", "APP", "--env", "APP_INFO", "--env", "READ_ONLY"),
        "example.org/console:1",
    ]
    variables = start["environment"]
    assert (variables["APP"], json.loads(variables["APP_INFO"]), variables["READ_ONLY"]) == ("fake", INFO, "True")
    assert variables["DOCKER_HOST"] == variables["CONTAINER_HOST"] == "unix:///run/podman.sock"
    assert secretless(programs, but=is_start)
    assert programs.run("rm")["arguments"][1:] == ["rm", "--force", "abc", "def"]
    provider.stop_all_containers()
    assert programs.runs[-2]["arguments"][-1] == "label=org.openstack.ironic.conductor=conductor-1"


def test_of_the_containers_of_a_conductor_one_is_removed(programs: Programs) -> None:
    programs.add("docker", format=(0, f"{NAME}\nironic-console-other\nanother"), quiet=(0, "abc"))
    provider = ContainerConsoleContainer()
    ((uuid, stop),) = provider.started().items()
    assert uuid == UUID
    own = ["--filter", "label=org.openstack.ironic.conductor=conductor-1"]
    assert programs.runs[-1]["arguments"][1:] == ["ps", "--all", "--format", "{{.Names}}", *own]
    stop()
    assert programs.runs[-2]["arguments"][1:] == ["ps", "--all", "--quiet", "--filter", f"name=^/?{NAME}$", *own]
    assert programs.runs[-1]["arguments"][1:] == ["rm", "--force", "abc"]


def test_a_value_is_one_word_of_a_template(programs: Programs, vnc: int, conf: Setter, tmp_path: Path) -> None:
    template = tmp_path / "template"
    template.write_text("run --note='{{ image }} of  {{ node }}' # a comment\n{% if false %}{% endif %}{{ image }}")
    conf(vnc__container_command_template=str(template), vnc__console_image="two words; $(id)")
    programs.add("docker", port=(0, f"[::]:{vnc}"))
    with pytest.raises(ConsoleContainerError):
        ContainerConsoleContainer().start_container(work_on(), "fake", INFO)
    template.write_text("run --note='{{ image }} of  {{ node }}' # a comment\n{{ image }}")
    ContainerConsoleContainer().start_container(work_on(), "fake", INFO)
    assert programs.run("run")["arguments"][1:] == [
        "run",
        f"--note=two words; $(id) of  {UUID}",
        "two words; $(id)",
    ]


def test_a_container_that_shows_nothing_is_removed(programs: Programs, conf: Setter) -> None:
    conf(vnc__wait_for_ready_timeout=1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    programs.add("docker", port=(0, f"127.0.0.1:{port}"), ps=(0, "abc"))
    with pytest.raises(ConsoleContainerError, match="nothing speaks VNC"):
        ContainerConsoleContainer().start_container(work_on(), "fake", INFO)
    assert programs.runs[-1]["arguments"][1:] == ["rm", "--force", "abc"]


def test_a_program_that_fails_is_quoted_without_secrets(programs: Programs) -> None:
    programs.add("docker", run=(7, "no such image password=hunter2"))
    with pytest.raises(ConsoleContainerError, match="exit code 7: no such image") as failure:
        ContainerConsoleContainer().start_container(work_on(), "fake", INFO)
    assert "hunter2" not in str(failure.value)


def test_a_program_that_hangs_is_killed_with_what_it_has_started(programs: Programs, tmp_path: Path) -> None:
    child = tmp_path / "child"
    command = ["/bin/sh", "-c", f"/bin/sleep 600 & echo $! > {child}; wait"]
    with pytest.raises(ConsoleContainerError, match="did not end within 1 seconds and was killed"):
        RealPrograms("container").run(command, seconds=1)

    def is_gone() -> bool:
        try:
            # One that has ended has no arguments, until nothing of it is left.
            return not Path(f"/proc/{child.read_text().strip()}/cmdline").read_bytes()
        except OSError:
            return True

    until(is_gone, "its child is gone")


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("0.0.0.0:49153\n[::]:49153", ("127.0.0.1", 49153)),
        ("5900/tcp -> 192.0.2.9:7", ("192.0.2.9", 7)),
        ("[2001:db8::1]:7", ("2001:db8::1", 7)),
        ("", None),
        ("no public port", None),
    ],
)
def test_a_published_port_is_read(conf: Setter, said: str, address: Any) -> None:
    conf(my_ip="127.0.0.1")
    assert published(said) == address


def test_a_container_that_may_have_been_made_is_removed_if_its_start_fails(programs: Programs) -> None:
    programs.add("docker", detach=(1, "the daemon gave no answer"), ps=(0, "c1"))
    with pytest.raises(ConsoleContainerError, match="the daemon gave no answer"):
        ContainerConsoleContainer().start_container(work_on(), "fake", INFO)
    done = [run["arguments"][1] for run in programs.runs]
    assert done[done.index("run") :] == ["run", "ps", "rm"]


def test_a_unit_of_systemd_has_its_credentials_in_a_private_file(programs: Programs, vnc: int, tmp_path: Path) -> None:
    programs.add("systemctl")
    programs.add("podman", port=(0, f"5900/tcp -> 127.0.0.1:{vnc}"))
    units = tmp_path / "units"
    provider = SystemdConsoleContainer(units)
    assert provider.start_container(work_on(), "fake", INFO) == ("127.0.0.1", vnc)
    unit, secret = units / f"{NAME}.container", units / f"{NAME}.env"
    assert f"EnvironmentFile={secret}\n" in unit.read_text()
    assert "hunter2" not in unit.read_text()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    variables = dict(line.split("=", 1) for line in secret.read_text().splitlines())
    assert json.loads(variables["APP_INFO"]) == INFO
    assert secretless(programs)
    assert programs.run("restart")["arguments"][1:] == ["--user", "restart", f"{NAME}.service"]
    (units / "ironic-console-other.container").write_text("Label=org.openstack.ironic.conductor=conductor-12\n")
    provider.stop_all_containers()
    assert [path.name for path in units.iterdir()] == ["ironic-console-other.container"]
    assert programs.run("stop")["arguments"][1:] == ["--user", "stop", f"{NAME}.service"]
    provider.stop_container(work_on())


def test_of_the_units_of_a_conductor_one_is_removed(programs: Programs, tmp_path: Path) -> None:
    programs.add("systemctl")
    programs.add("podman")
    others = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b99"
    for uuid, conductor in ((UUID, "conductor-1"), (others, "conductor-12")):
        unit = tmp_path / f"ironic-console-{uuid}.container"
        unit.write_text(f"Label=org.openstack.ironic.conductor={conductor}\n")
    provider = SystemdConsoleContainer(tmp_path)
    ((uuid, stop),) = provider.started().items()
    assert uuid == UUID
    stop()
    assert [path.name for path in tmp_path.glob("*.container")] == [f"ironic-console-{others}.container"]
    assert programs.run("stop")["arguments"][1:] == ["--user", "stop", f"{NAME}.service"]


def test_a_unit_that_does_not_start_is_removed(programs: Programs, tmp_path: Path) -> None:
    programs.add("systemctl", restart=(1, "Unit not found."))
    programs.add("podman")
    with pytest.raises(ConsoleContainerError, match="Unit not found"):
        SystemdConsoleContainer(tmp_path / "units").start_container(work_on(), "fake", INFO)
    assert list((tmp_path / "units").iterdir()) == []


def test_a_unit_that_can_not_be_read_or_removed_is_named(programs: Programs, tmp_path: Path) -> None:
    programs.add("systemctl")
    programs.add("podman")
    units = tmp_path / "units"
    (units / f"{NAME}.container").mkdir(parents=True)
    provider = SystemdConsoleContainer(units)
    with pytest.raises(ConsoleContainerError, match=f"{NAME}.container: Is a directory"):
        provider.stop_all_containers()
    with pytest.raises(ConsoleContainerError, match=f"{NAME}.container: Is a directory"):
        provider.stop_container(work_on())


class _Killed(BaseException):
    """The end of the process: nothing after it is done."""


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_what_a_killed_conductor_leaves_of_a_unit_is_removed_by_the_next_one(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    programs.add("systemctl")
    programs.add("podman")
    killed = SystemdConsoleContainer(tmp_path / "units")
    done: list[object] = []

    def until_killed(step: Any) -> Any:
        def do(*arguments: Any) -> None:
            if len(done) == steps:
                raise _Killed
            done.append(step(*arguments))

        return do

    monkeypatch.setattr(killed, "_write", until_killed(killed._write))
    monkeypatch.setattr(killed, "_systemctl", until_killed(killed._systemctl))
    monkeypatch.setattr(killed, "_remove", until_killed(killed._remove))
    with pytest.raises(_Killed):
        killed.start_container(work_on(), "fake", INFO)
    assert list((tmp_path / "units").iterdir())
    SystemdConsoleContainer(tmp_path / "units").stop_all_containers()
    assert list((tmp_path / "units").iterdir()) == []


def test_kubectl_finds_the_cluster_of_the_pod_that_it_is_in(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"KUBERNETES_SERVICE_HOST": "192.0.2.1", "KUBERNETES_SERVICE_PORT": "443"}
    for name, value in {**given, "OS_PASSWORD": PASSWORD}.items():
        monkeypatch.setenv(name, value)
    programs.add("kubectl")
    KubernetesConsoleContainer().stop_container(work_on())
    environment = programs.run("delete")["environment"]
    assert given.items() <= environment.items()
    assert "OS_PASSWORD" not in environment


def test_a_pod_gets_a_secret_from_the_input_of_kubectl(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    programs.add("kubectl", podIP=(0, "192.0.2.8"))
    provider = KubernetesConsoleContainer()
    waited: list[Any] = []
    monkeypatch.setattr(provider._programs, "await_vnc", waited.append)
    assert provider.start_container(work_on(), "fake", INFO) == ("192.0.2.8", 5900)
    assert waited == [("192.0.2.8", 5900)]
    secret, pod = yaml.safe_load_all(programs.run("apply")["input"])
    assert json.loads(secret["stringData"]["APP_INFO"]) == INFO
    assert secret["metadata"]["name"] == pod["metadata"]["name"] == NAME
    assert pod["metadata"]["labels"]["org.openstack.ironic.node"] == UUID
    assert pod["spec"]["containers"][0]["image"] == "example.org/console:1"
    assert secretless(programs, but=lambda run: "apply" in run["arguments"])
    provider.stop_all_containers()
    assert "--selector=org.openstack.ironic.conductor=conductor-1" in programs.runs[-1]["arguments"]


def test_of_the_pods_of_a_conductor_one_is_removed(programs: Programs) -> None:
    programs.add("kubectl", get=(0, f"{NAME} {NAME}"))
    provider = KubernetesConsoleContainer()
    ((uuid, stop),) = provider.started().items()
    assert uuid == UUID
    own = "--selector=org.openstack.ironic.conductor=conductor-1"
    assert own in programs.runs[-1]["arguments"]
    stop()
    assert programs.runs[-1]["arguments"][1:4] == ["delete", "pod,secret", f"{own},org.openstack.ironic.node={UUID}"]


def test_a_pod_that_does_not_get_ready_is_removed(programs: Programs) -> None:
    programs.add("kubectl", wait=(1, "timed out waiting for the condition"))
    with pytest.raises(ConsoleContainerError, match="timed out waiting"):
        KubernetesConsoleContainer().start_container(work_on(), "fake", INFO)
    assert f"pod/{NAME}" in programs.runs[-1]["arguments"]
    assert "delete" in programs.runs[-1]["arguments"]


def test_ports_and_times_are_those_of_the_options(
    programs: Programs, vnc: int, conf: Setter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf(
        vnc__container_executable="podman",
        vnc__container_publish_port="192.0.2.9:6001:5900",
        vnc__systemd_container_publish_port="192.0.2.9:6002:5900",
        vnc__kubernetes_pod_timeout=7,
    )
    programs.add("podman", port=(0, f"5900/tcp -> 127.0.0.1:{vnc}"))
    programs.add("systemctl")
    programs.add("kubectl", podIP=(0, "192.0.2.8"))
    ContainerConsoleContainer().start_container(work_on(), "fake", INFO)
    assert "192.0.2.9:6001:5900" in programs.run("run", "--publish")["arguments"]
    SystemdConsoleContainer(tmp_path / "units").start_container(work_on(), "fake", INFO)
    assert "PublishPort=192.0.2.9:6002:5900\n" in (tmp_path / "units" / f"{NAME}.container").read_text()
    provider = KubernetesConsoleContainer()
    monkeypatch.setattr(provider._programs, "await_vnc", lambda address: None)
    provider.start_container(work_on(), "fake", INFO)
    assert programs.run("wait", "--timeout=7s")


PROVIDERS = [
    (ContainerConsoleContainer, ["docker"], "container_command_template"),
    (SystemdConsoleContainer, ["systemctl", "podman"], "systemd_container_template"),
    (KubernetesConsoleContainer, ["kubectl"], "kubernetes_container_template"),
]


@pytest.mark.parametrize(("provider", "needed", "template"), PROVIDERS)
def test_what_a_provider_lacks_is_said_at_the_start(
    programs: Programs, conf: Setter, tmp_path: Path, provider: Any, needed: list[str], template: str
) -> None:
    with pytest.raises(ConsoleContainerError, match=f"{needed[0]} is not installed"):
        provider()
    for program in needed:
        programs.add(program)
    provider()
    (tmp_path / "broken").write_text("{{ image")
    conf(**{f"vnc__{template}": str(tmp_path / "broken")})
    with pytest.raises(ConsoleContainerError, match="broken can't be used"):
        provider()
    conf(**{f"vnc__{template}": "/nowhere"})
    with pytest.raises(ConsoleContainerError, match="/nowhere can't be used"):
        provider()


@pytest.mark.parametrize("provider", [ContainerConsoleContainer, KubernetesConsoleContainer])
def test_an_image_is_needed(programs: Programs, conf: Setter, provider: Any) -> None:
    conf(vnc__console_image=None)
    programs.add("docker")
    programs.add("kubectl")
    with pytest.raises(ConsoleContainerError, match="console_image is not set"):
        provider()


def test_an_unknown_provider_is_named_with_the_known_ones(conf: Setter) -> None:
    conf(vnc__container_provider="tape")
    with pytest.raises(DriverLoadError, match="'tape'; set it to one of: container, fake, kubernetes, systemd"):
        containers.provider()


def test_the_application_of_a_redfish_console_gets_the_login(conf: Setter) -> None:
    info = {"redfish_address": "192.0.2.7", "redfish_username": "u", "redfish_password": PASSWORD}
    task: Any = work_on(driver="redfish", driver_info={**info, "redfish_verify_ca": False})
    console = RedfishGraphicalConsole()
    console.validate(task)
    told = console.app_info(task)
    assert told == {
        "node_uuid": UUID,
        "address": "https://192.0.2.7",
        "system_id": None,
        "username": "u",
        "password": PASSWORD,
        "verify_ca": False,
        "auth_type": "auto",
        "tls_minimum_version": None,
        "tls_ciphers": None,
        "root_prefix": "/redfish/v1/",
    }


def test_the_application_gets_no_login_that_the_bmc_refuses(conf: Setter) -> None:
    info = {"redfish_address": "192.0.2.7", "redfish_username": "u", "redfish_password": PASSWORD}
    task: Any = work_on(driver="redfish", driver_info=info)
    guard = guard_of(task.store, "https://192.0.2.7", "u", PASSWORD)
    for _ in range(3):
        with pytest.raises(LoginRefused), guard.attempt():
            raise LoginRefused
    with pytest.raises(RedfishError, match="refused this login 3 times.*opening the console page"):
        RedfishGraphicalConsole().app_info(task)

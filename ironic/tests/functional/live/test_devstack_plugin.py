"""DevStack's plug-in: each phase, in a shell with DevStack's functions played, and the service that it configures."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from getpass import getuser
from pathlib import Path

import pytest

from ironic.conf import CONF, library_options
from ironic.tests.live_service import PROGRAMS, Options, Service, free_port, write_options
from ironic.tests.repository import ROOT

PLUGIN = ROOT / "devstack"
SCRIPTS = [PLUGIN / name for name in ("settings", "plugin.sh", "lib/ironic")]
PLAYED = Path(__file__).parents[2] / "data" / "devstack_functions.sh"
PHASES = ("stack pre-install", "stack install", "stack post-config", "stack extra", "stack test-config")


class Stack:
    """A host of DevStack: its variables, and what was called on it."""

    def __init__(self, directory: Path, enabled: str = "ironic ir-api ir-cond mysql tempest", **local: str) -> None:
        self.directory, self._calls = directory, directory / "calls"
        self.port = free_port()
        self.variables = {
            "PATH": os.environ["PATH"],
            "CALLS": str(self._calls),
            "ENABLED": enabled,
            "PROGRAMS": str(PROGRAMS),
            "IRONIC_DIR": str(ROOT),
            "IRONIC_CONF_DIR": str(directory / "etc"),
            "IRONIC_SERVICE_PORT": str(self.port),
            "IRONIC_HTTP_PORT": str(free_port()),
            "DATA_DIR": str(directory),
            "DEST": str(directory / "opt"),
            "HOST_IP": "127.0.0.1",
            "SERVICE_HOST": "127.0.0.1",
            "SERVICE_TIMEOUT": "60",
            "STACK_USER": getuser(),
            "REGION_NAME": "RegionOne",
            "TEMPEST_CONFIG": str(directory / "tempest.conf"),
            **local,
        }

    @property
    def configuration(self) -> Path:
        """The file that the service reads."""
        return self.directory / "etc" / "ironic.conf"

    def run(self, phase: str) -> list[list[str]]:
        """Source settings and plug-in as DevStack does; return the calls of its functions."""
        self._calls.write_text("")
        script = f"set -eu\nsource {PLAYED}\nsource {SCRIPTS[0]}\nset -- {phase}\nsource {SCRIPTS[1]}\n"
        done = subprocess.run(
            ["bash", "-c", script], env=self.variables, capture_output=True, text=True, timeout=120, cwd=self.directory
        )
        assert done.returncode == 0, done.stderr + self._calls.read_text()
        calls = [shlex.split(line) for line in self._calls.read_text().splitlines()]
        return [call for call in calls if call[0] not in ("define_plugin", "enable_service", "echo_summary")]


def options_of(calls: Sequence[Sequence[str]], path: Path) -> dict[str, dict[str, str]]:
    """Return what was set in a file, by group."""
    found: dict[str, dict[str, str]] = {}
    for call in calls:
        if call[0] == "iniset" and call[1] == str(path):
            group, name, value = call[2:]
            found.setdefault(group, {})[name] = value
    return found


@pytest.fixture(scope="module")
def stacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stack, dict[str, list[list[str]]]]:
    """Run all phases of `stack`; return the host, and the calls of each phase."""
    stack = Stack(tmp_path_factory.mktemp("stack"))
    return stack, {phase: stack.run(phase) for phase in PHASES}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_have_no_fault_that_a_linter_finds(script: Path) -> None:
    linter = shutil.which("shellcheck")
    assert linter, "shellcheck is missing: run tools/packages.sh"
    # Variables come from DevStack and go from one script to the other.
    command: list[str | Path] = [
        linter,
        "--shell=bash",
        "--external-sources",
        "--exclude=SC2034,SC2154",
        script.relative_to(ROOT),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_the_phases_call_what_devstack_has_for_them(stacked: tuple[Stack, dict[str, list[list[str]]]]) -> None:
    stack, calls = stacked
    url = f"http://127.0.0.1:{stack.port}"
    file = str(stack.configuration)
    assert calls["stack pre-install"] == []
    assert calls["stack install"] == [
        ["setup_develop", str(ROOT), "mysql"],
        ["pip_install", "python-ironicclient>=5.8"],
    ]
    assert [call for call in calls["stack post-config"] if call[0] != "iniset"] == [
        ["iniset_rpc_backend", "ironic", file],
        ["configure_keystone_authtoken_middleware", file, "ironic"],
        ["create_service_user", "ironic", "admin"],
        ["get_or_create_service", "ironic", "baremetal", "Bare Metal"],
        ["get_or_create_endpoint", "baremetal", "RegionOne", url],
        ["recreate_database", "ironic"],
    ]
    api, conductor, wait, _, *nodes = calls["stack extra"]
    assert api == ["run_process", "ir-api", f"{PROGRAMS}/ironic-api --config-file={file}"]
    assert conductor == ["run_process", "ir-cond", f"{PROGRAMS}/ironic-conductor --config-file={file}"]
    assert wait == ["wait_for_service", "60", url]
    verbs = [call[call.index("node") + 1 :] for call in nodes]
    assert [verb[0] for verb in verbs] == ["create", "manage", "provide"] * 3
    assert verbs[-1] == ["provide", "--wait", "60", "fake-3"]


def test_each_option_that_is_set_exists(stacked: tuple[Stack, dict[str, list[list[str]]]]) -> None:
    stack, calls = stacked
    known = {(group.name if group else "DEFAULT", info["opt"].dest) for info, group in CONF._all_opt_infos()}
    known |= {(group, name) for group, name in library_options.known(CONF)}
    made = options_of(calls["stack post-config"], stack.configuration)
    named = {(group, name) for group, options in made.items() for name in options}
    assert len(named) > 25 and named <= known
    assert made["DEFAULT"]["auth_strategy"] == "keystone"
    assert made["service_catalog"] == {"endpoint_override": f"http://127.0.0.1:{stack.port}"}


def test_tempest_gets_the_options_that_make_tempest_has(stacked: tuple[Stack, dict[str, list[list[str]]]]) -> None:
    stack, calls = stacked
    made = options_of(calls["stack test-config"], stack.directory / "tempest.conf")
    text = (PLUGIN / "files" / "tempest.conf").read_text()
    assert sum(map(len, made.values())) == len(re.findall(r"^\w+ = ", text, re.MULTILINE)) >= 6
    assert (made["service_available"], made["baremetal"]["driver"]) == ({"ironic": "true"}, "fake-hardware")
    quiet = Stack(stack.directory, enabled="ironic")
    assert quiet.run("stack test-config") == []


@pytest.fixture
def configured(tmp_path: Path) -> Iterator[Service]:
    """Start the service with what the phases wrote; Keystone and broker, which DevStack would have, are left out."""
    stack = Stack(tmp_path)
    stack.run("stack post-config")
    assert not stack.configuration.stat().st_mode & 0o007
    log = tmp_path / "service.log"
    own: Options = {"DEFAULT": {"auth_strategy": "noauth", "rpc_transport": "none", "log_file": log}}
    service = Service("ironic", [stack.configuration, write_options(tmp_path / "own.conf", own)], log, stack.port)
    try:
        service.await_ready()
        yield service
    finally:
        service.stop()


def test_the_service_starts_with_the_configuration(configured: Service) -> None:
    assert {driver["name"] for driver in configured.get("/v1/drivers").json()["drivers"]} == {"fake-hardware", "ipmi"}
    assert " ERROR " not in configured.log and "have no effect" not in configured.log


def test_it_ends_and_leaves_nothing(tmp_path: Path) -> None:
    stack = Stack(tmp_path, IRONIC_STATE_PATH=str(tmp_path / "state"))
    stack.run("stack post-config")
    assert stack.run("unstack") == [["stop_process", "ir-api"], ["stop_process", "ir-cond"]]
    assert stack.run("clean") == []
    assert not (tmp_path / "etc").exists() and not (tmp_path / "state").exists()
    assert Stack(tmp_path, enabled="").run("stack post-config") == []

"""Run tempest's tests of the Bare Metal API against this tree: `make tempest`.

    python tools/tempest_run.py install
    python tools/tempest_run.py run [--only REGEX] [--keep DIRECTORY]

The suites are those of the published `ironic-tempest-plugin`: everything below `tests.api`, with the defaults of
tempest, so that callers have roles and scopes of the real Keystone that `tools/keystone_server.py` starts. The service
is the all-in-one program of `make run` with fake hardware; its graphical consoles are screens of `tools/screens.py`,
shown by its proxy. A whole run writes its result into `doc/tempest.md`.
"""

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import environments
import keystone_server
import novnc
import run

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venv-tempest"
PACKAGES = ("tempest==47.0.0", "ironic-tempest-plugin==3.2.0")
PAGE = ROOT / "doc" / "tempest.md"
SUITES = "ironic_tempest_plugin.tests.api"

# The options that DevStack's plug-in sets too.
SHARED = ROOT / "devstack" / "files"

# What only this run has: graphical consoles, and the Keystone beside it.
_SERVICE = """\
[DEFAULT]
my_ip = 127.0.0.1
enabled_console_interfaces = fake, no-console, fake-graphical
[fake]
deploy_delay = 0
[vnc]
enabled = true
host_ip = 127.0.0.1
port = {proxy_port}
novnc_web = {pages}
container_provider = container
container_executable = {screens}
container_host = unix://{directory}/screens
console_image = none
[keystone_authtoken]
{trust}
"""

_TEMPEST = """\
[DEFAULT]
log_dir = {directory}
log_file = tempest.log
[oslo_concurrency]
lock_path = {directory}/locks
[auth]
admin_username = admin
admin_password = {password}
admin_project_name = admin
admin_domain_name = Default
admin_system = all
create_isolated_networks = false
[identity]
uri_v3 = {url}
region = {region}
[service_available]
cinder = false
glance = false
horizon = false
neutron = false
nova = false
swift = false
[baremetal]
enabled_console_interfaces = fake,no-console,fake-graphical
"""


def install() -> None:
    """Make the environment, if need be."""
    HOME.mkdir(exist_ok=True)
    made_of = [text.encode() for text in (*PACKAGES, sys.version)]
    environments.ensure(HOME, made_of, lambda home: environments.install(home, PACKAGES))


@contextlib.contextmanager
def serving(directory: Path) -> Iterator[keystone_server.Keystone]:
    """Run the service and a Keystone that has it in its catalog."""
    port = keystone_server.free_port()
    url = f"http://{keystone_server.HOST}:{port}"
    (directory / "keystone").mkdir()
    with keystone_server.serving(directory / "keystone", baremetal=url) as keystone:
        own = directory / "keystone.conf"
        files = [run.configure(directory / "ironic", port), SHARED / "ironic.conf", own]
        trust = "\n".join(f"{name} = {value}" for name, value in keystone.trust().items())
        consoles = {
            "proxy_port": keystone_server.free_port(),
            "pages": novnc.fetch(),
            "screens": ROOT / "tools" / "screens.py",
            "directory": directory,
        }
        own.write_text(_SERVICE.format(trust=trust, **consoles))
        options = [f"--config-file={file}" for file in files]
        subprocess.run([run.PROGRAMS / "ironic-dbsync", *options, "upgrade"], check=True)
        service = subprocess.Popen([run.PROGRAMS / "ironic", *options], stdin=subprocess.DEVNULL)
        try:
            if not run.await_answer(url, service, directory / "ironic"):
                raise SystemExit(f"The service did not start; see {directory}/ironic/ironic.log")
            yield keystone
        finally:
            service.terminate()
            service.wait(timeout=run.START_TIMEOUT)


def test(directory: Path, pattern: str) -> tuple[int, str]:
    """Run the tests whose names match; return tempest's exit status and the end of what it said."""
    with serving(directory) as keystone:
        tempest = HOME / "bin" / "tempest"
        workspace = directory / "workspace"
        # It registers workspaces in the home directory.
        environment = os.environ | {"HOME": str(directory)}
        subprocess.run(
            [tempest, "init", workspace], check=True, capture_output=True, stdin=subprocess.DEVNULL, env=environment
        )
        own = _TEMPEST.format(
            directory=directory,
            password=keystone_server.ADMIN_PASSWORD,
            url=keystone.url,
            region=keystone_server.REGION,
        )
        # The last value of an option counts.
        shared = (SHARED / "tempest.conf").read_text()
        (workspace / "etc" / "tempest.conf").write_text(f"{shared}{own}")
        command: list[str | Path] = [tempest, "run", "--regex", pattern, "--concurrency", "4"]
        process = subprocess.Popen(
            command,
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout
        said = []
        for line in process.stdout:
            said.append(line)
            print(line, end="", flush=True)
        return process.wait(), "".join(said)


def counts(said: str) -> dict[str, int]:
    """Return the numbers of the summary: passed, skipped, failed."""
    return {name.lower(): int(number) for name, number in re.findall(r"^ - (Passed|Skipped|Failed): (\d+)", said, re.M)}


_RESULT = """\
# Tempest

`make tempest` runs the suites of the Bare Metal API that tempest's plugin has ({packages})
against this tree, with a real Keystone, fake hardware and tempest's own defaults: `{suites}`,
administration and access of roles. It wrote this page after its last run.

| tests | number |
| --- | --- |
| passed | {passed} |
| failed | {failed} |
| classes skipped | {skipped} |

{details}
The skipped ones need what this run does not have. `--only REGEX` runs a part, `--keep DIRECTORY` keeps the logs:

    .venv/bin/python tools/tempest_run.py run --only test_allocations --keep /tmp/tempest
"""


def page(said: str) -> str:
    """Return the page about a run."""
    ends = re.findall(r"^\{\d+\} (?:setUpClass \()?([\w.]+)\)? .*\.\.\. (FAILED|SKIPPED: .*)$", said, re.M)
    rows = sorted((name.removeprefix(f"{SUITES}."), result) for name, result in ends)
    table = "".join(f"| `{name}` | {result.strip()} |\n" for name, result in rows)
    details = f"| test | result |\n| --- | --- |\n{table}" if rows else ""
    return _RESULT.format(packages=", ".join(PACKAGES), suites=SUITES, details=details, **counts(said))


def main() -> int:
    """Install, or run the tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["install", "run"])
    parser.add_argument("--only", default=SUITES, metavar="REGEX", help="run the tests whose names match")
    parser.add_argument("--keep", type=Path, help="where the files of the run stay")
    arguments = parser.parse_args()
    install()
    if arguments.action == "install":
        return 0
    with contextlib.ExitStack() as stack:
        directory = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ironic-tempest-")))
        directory.mkdir(parents=True, exist_ok=True)
        status, said = test(directory.resolve(), arguments.only)
    if arguments.only == SUITES:
        PAGE.write_text(page(said))
    return status


if __name__ == "__main__":
    sys.exit(main())

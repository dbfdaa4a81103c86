"""Serve the all-in-one service from this tree, for trying it out: `make run`.

Its files are in `.run/` (configuration, SQLite file, log), which survives restarts and may be deleted. The
configuration is written once, so that it can be edited.
"""

import argparse
import configparser
import errno
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(sys.executable).parent
USUAL_PORT = 6385
START_TIMEOUT = 60.0  # seconds

CONFIGURATION = """\
# Written by `make run`; change it as you like, it is not written again.
[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = {host}
state_path = {directory}
log_file = {directory}/ironic.log
# Simulated machines, and real ones with a Redfish BMC or with none{and_ipmi}.
enabled_hardware_types = fake-hardware, redfish, manual-management{ipmi}
enabled_bios_interfaces = fake, redfish, no-bios
enabled_boot_interfaces = fake, redfish-virtual-media, redfish-https, ipxe, pxe, http-ipxe, http
enabled_console_interfaces = fake, no-console
enabled_deploy_interfaces = fake, autodetect, direct, ramdisk, custom-agent
enabled_firmware_interfaces = fake, redfish, no-firmware
enabled_inspect_interfaces = agent, fake, redfish, no-inspect
enabled_management_interfaces = fake, redfish, noop{ipmitool}
enabled_network_interfaces = noop
enabled_power_interfaces = fake, agent, redfish{ipmitool}
enabled_raid_interfaces = fake, agent, redfish, no-raid
enabled_rescue_interfaces = fake, agent, no-rescue
enabled_storage_interfaces = fake, noop
enabled_vendor_interfaces = fake, redfish, no-vendor{ipmitool}

[api]
host_ip = 127.0.0.1
port = {port}

[service_catalog]
# The URL of the API for ramdisks.
endpoint_override = http://127.0.0.1:{port}

[deploy]
# What machines and BMCs download; the service itself serves it, for machines on this host.
http_root = {directory}/httpboot
http_server_ip = 127.0.0.1
iso_master_path = {directory}/images/iso

[pxe]
tftp_root = {directory}/tftpboot
tftp_master_path = {directory}/images/ramdisks
instance_master_path = {directory}/images/instances

[inspector]
# The machines boot their ramdisk by themselves.
require_managed_boot = false

[outgoing]
# Simulated machines are on this host.
allow_loopback = true

[fake]
# As machines with a BMC: off, and on once they are deployed.
reports_power = true
# Slow enough to watch.
deploy_delay = 1
"""

EXAMPLES = """\
Ironic serves {url} and logs to {log}. Ctrl-C ends it. Five commands to try in another terminal:

  export OS_AUTH_TYPE=none OS_ENDPOINT={url}
  {client} node create --driver fake-hardware --name first
  {client} node manage first --wait
  {client} node provide first --wait
  {client} node deploy first --wait
  {client} node show first --fields provision_state power_state driver
"""
AGAIN = """\
Ironic serves {url} and logs to {log}, with the machines of the last time. Ctrl-C ends it. In another terminal:

  export OS_AUTH_TYPE=none OS_ENDPOINT={url}
  {client} node list
"""
TAKEN = """\
Port {port} of {host} is taken, so another process listens there. Serve on another port: make run PORT={free}
"""
RUNS = """\
This service runs already, in another terminal, and serves {url}. End it there with Ctrl-C first. A second one beside it
needs a directory of its own: {python} tools/run.py --directory /tmp/ironic-2 --port {free}
"""


def configure(directory: Path, port: int) -> Path:
    """Write the configuration unless it is there; return its file."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "ironic.conf"
    if not path.exists():
        # A conductor does not start with what needs ipmitool where it is not installed.
        has_ipmitool = shutil.which("ipmitool") is not None
        path.write_text(
            CONFIGURATION.format(
                host="localhost",
                directory=directory,
                port=port,
                and_ipmi=", and with an IPMI BMC" if has_ipmitool else "; install ipmitool for type ipmi",
                ipmi=", ipmi" if has_ipmitool else "",
                ipmitool=", ipmitool" if has_ipmitool else "",
            )
        )
    return path


def change_port(path: Path, port: int) -> None:
    """Have an existing configuration serve on another port, and offer that one to ramdisks; the rest stays."""
    text = path.read_text()
    section = ""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            section = line.strip()
        if section == "[api]" and re.match(r"port\s*=", line):
            line = f"port = {port}\n"
        elif section == "[service_catalog]" and re.match(r"endpoint_override\s*=", line):
            line = re.sub(r":\d+(?=/?\s*$)", f":{port}", line.rstrip("\n")) + "\n"
        lines.append(line)
    path.write_text("".join(lines))


def runs_in(directory: Path) -> bool:
    """Return whether a service has its files there: its conductor keeps one of them locked."""
    for path in directory.glob("conductor-*.lock"):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


def is_taken(host: str, port: int) -> bool:
    """Return whether a process listens there."""
    try:
        socket.create_server((host, port)).close()
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


def obstacle(configuration: Path, wanted: int | None) -> str | None:
    """Return why no service can start with the configuration on the wanted port, None if it can."""
    url = url_of(configuration)
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    if runs_in(configuration.parent):
        return RUNS.format(url=url, free=port + 10, python=shown(Path(sys.executable)))
    port = wanted or port
    return TAKEN.format(port=port, host=host, free=port + 10) if is_taken(host, port) else None


def url_of(configuration: Path) -> str:
    """Return the URL of the API according to the configuration."""
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    parsed.read(configuration)
    return f"http://{parsed['api']['host_ip']}:{parsed['api']['port']}"


def is_of(service: subprocess.Popen[bytes], directory: Path) -> bool:
    """Return whether the conductor that has its files there is this service, and not one that began beside it."""
    return any(path.read_text().startswith(f"{service.pid} ") for path in directory.glob("conductor-*.lock"))


def await_answer(url: str, service: subprocess.Popen[bytes], directory: Path) -> bool:
    """Wait until the service's API answers; return False when the service ends or does not answer in time."""
    deadline = time.monotonic() + START_TIMEOUT
    while service.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/v1", timeout=5):
                if is_of(service, directory):
                    return service.poll() is None
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    return False


def shown(path: Path) -> str:
    """Return a path relative to the current directory if it is below it."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def main() -> int:
    """Create or upgrade the database, serve, print commands to try, and wait for the end."""
    parser = argparse.ArgumentParser(description="Serve the all-in-one service from this tree.")
    parser.add_argument("--directory", type=Path, default=ROOT / ".run", help="where its files are")
    parser.add_argument("--port", type=int, help="port to serve on; by default that of the configuration, or 6385")
    arguments = parser.parse_args()
    # Other users of this host may not read configuration, database and log.
    os.umask(0o077)
    configuration = configure(arguments.directory.resolve(), arguments.port or USUAL_PORT)
    if reason := obstacle(configuration, arguments.port):
        print(reason, end="", file=sys.stderr)
        return 1
    if arguments.port:
        change_port(configuration, arguments.port)
    url = url_of(configuration)
    said = AGAIN if (configuration.parent / "ironic.sqlite").exists() else EXAMPLES
    option = ["--config-file", str(configuration)]
    subprocess.run([PROGRAMS / "ironic-dbsync", *option, "upgrade"], check=True)
    service = subprocess.Popen([PROGRAMS / "ironic", *option])
    for number in (signal.SIGTERM, signal.SIGINT):
        # Ctrl-C reaches the service as well; here it must not interrupt the waiting.
        signal.signal(number, lambda *_: service.terminate())
    directory = arguments.directory.resolve()
    if await_answer(url, service, directory):
        log = directory / "ironic.log"
        print(said.format(url=url, log=shown(log), client=shown(PROGRAMS / "baremetal")), flush=True)
    return service.wait()


if __name__ == "__main__":
    sys.exit(main())

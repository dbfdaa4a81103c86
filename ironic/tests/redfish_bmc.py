"""A Redfish BMC for tests: sushy-tools' emulator with its fake machines, in a process of its own on a free port.

    with redfish_bmc(tmp_path, count=2, delay=0) as bmc:
        node.driver_info = bmc.driver_info(0)

The emulator is taken as it is, except for one thing: it lets every power action take 1 to 11 seconds by chance, and
tests say how long instead. Run as a program, this file is that emulator.

`libvirt_bmc` runs the same emulator with its driver for libvirt, and libvirt's own hypervisor for tests.
"""

import argparse
import contextlib
import datetime
import importlib.machinery
import importlib.util
import ipaddress
import pprint
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_SECONDS = 60.0
HOST = "127.0.0.1"

_ADDRESS = re.compile(r"Running on (https?)://[^:]+:(\d+)")
# The hypervisor and its only machine, which is on.
LIBVIRT = "test:///default"
LIBVIRT_MACHINE = {"uuid": "6695eb01-f6a4-8304-79aa-97f2502e193f", "nics": [{"mac": "aa:bb:cc:dd:ee:ff"}]}
# Debian's package, which the environment of the tests does not see.
_DEBIAN = "/usr/lib/python3/dist-packages"
_NAMES = uuid.UUID("5d8a3f0e-30a6-44a5-9c39-0f2f6d5a7a11")


@dataclass(frozen=True)
class RedfishBmc:
    """A running emulator."""

    address: str
    systems: tuple[dict[str, Any], ...]
    login: dict[str, str]
    verify_ca: str | None = None

    def driver_info(self, index: int = 0, **changes: Any) -> dict[str, Any]:
        """Return what a node needs to reach one of the machines; a change to None takes a key out."""
        info = {
            "redfish_address": self.address,
            "redfish_system_id": f"/redfish/v1/Systems/{self.systems[index]['uuid']}",
            **self.login,
            "redfish_verify_ca": self.verify_ca,
            **changes,
        }
        return {name: value for name, value in info.items() if value is not None}

    def mac_addresses(self, index: int = 0) -> list[str]:
        """Return the addresses of one machine's network interfaces."""
        return [nic["mac"] for nic in self.systems[index]["nics"]]


@contextlib.contextmanager
def redfish_bmc(
    directory: Path,
    *,
    count: int = 1,
    delay: int = 0,
    user: str | None = None,
    password: str = "secret-of-the-bmc",
    tls: bool = False,
    extended: bool = False,
) -> Iterator[RedfishBmc]:
    """Run the emulator until the block ends; ``directory`` has to be empty.

    With ``extended`` the machines have processors, memory and simple storage, which the emulator's own leave out.

    Of several machines the last one has no disks, and answers questions about them with a server error.
    """
    systems = tuple(_system(index) for index in range(count))
    settings: dict[str, Any] = {
        "SUSHY_EMULATOR_FAKE_DRIVER": True,
        "SUSHY_EMULATOR_FAKE_SYSTEMS": list(systems),
        "SUSHY_EMULATOR_STATE_DIR": str(directory),
        "SUSHY_EMULATOR_LISTEN_IP": HOST,
        "SUSHY_EMULATOR_LISTEN_PORT": 0,
        "SUSHY_EMULATOR_FEATURE_SET": "full",
        **_disks(systems[:-1] or systems),
    }
    if user:
        settings["SUSHY_EMULATOR_AUTH_FILE"] = _write_logins(directory, user, password)
    if tls:
        certificate, key = write_certificate(directory)
        settings |= {"SUSHY_EMULATOR_SSL_CERT": certificate, "SUSHY_EMULATOR_SSL_KEY": key}
    login = {"redfish_username": user, "redfish_password": password} if user else {}
    options = ["--delay", str(delay), *(["--extended"] if extended else [])]
    with _running(directory, settings, options) as address:
        yield RedfishBmc(address, systems, login, settings.get("SUSHY_EMULATOR_SSL_CERT"))


@contextlib.contextmanager
def libvirt_bmc(directory: Path) -> Iterator[RedfishBmc]:
    """Run the emulator with a machine of libvirt until the block ends; ``directory`` has to be empty."""
    settings = {
        "SUSHY_EMULATOR_LIBVIRT_URI": LIBVIRT,
        "SUSHY_EMULATOR_STATE_DIR": str(directory),
        "SUSHY_EMULATOR_LISTEN_IP": HOST,
        "SUSHY_EMULATOR_LISTEN_PORT": 0,
        "SUSHY_EMULATOR_FEATURE_SET": "full",
    }
    with _running(directory, settings, ["--libvirt"]) as address:
        yield RedfishBmc(address, (LIBVIRT_MACHINE,), {})


@contextlib.contextmanager
def _running(directory: Path, settings: dict[str, Any], options: Sequence[str]) -> Iterator[str]:
    config, log = directory / "emulator.conf", directory / "emulator.log"
    config.write_text("".join(f"{name} = {pprint.pformat(value)}\n" for name, value in settings.items()))
    command = [sys.executable, "-P", __file__, "--config", str(config), *options]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            yield _await_address(process, log)
        finally:
            process.terminate()


def _await_address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Wait until the emulator says on which port it listens; the system has chosen a free one."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := _ADDRESS.search(log.read_text()):
            return f"{found[1]}://{HOST}:{found[2]}"
        time.sleep(0.02)
    raise RuntimeError(f"The Redfish emulator did not start: {log.read_text()}")


def _system(index: int) -> dict[str, Any]:
    nics = [f"52:54:7e:{index >> 8 & 255:02x}:{index & 255:02x}:{nic:02x}" for nic in range(2)]
    return {
        "uuid": str(uuid.uuid5(_NAMES, f"system {index}")),
        "name": f"machine-{index}",
        "power_state": "Off",
        "external_notifier": False,
        "nics": [{"mac": mac, "ip": "192.0.2.1"} for mac in nics],
    }


def _disks(systems: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give each machine a controller with one disk; without these settings the emulator talks about its own sample."""
    owners = [system["uuid"] for system in systems]
    controller = {"Id": "1", "Name": "Controller", "StorageControllers": [], "Drives": ["disk-0"]}
    disk = {"Id": "disk-0", "Name": "Disk 0", "Protocol": "SAS", "CapacityBytes": 480_000_000_000}
    return {
        "SUSHY_EMULATOR_STORAGE": {owner: [controller] for owner in owners},
        "SUSHY_EMULATOR_DRIVES": {(owner, "1"): [disk] for owner in owners},
        "SUSHY_EMULATOR_VOLUMES": {},
    }


def _write_logins(directory: Path, user: str, password: str) -> str:
    import bcrypt

    path = directory / "htpasswd"
    path.write_text(f"{user}:{bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=4)).decode()}\n")
    return str(path)


def write_certificate(directory: Path) -> tuple[str, str]:
    """Make a certificate for the loopback addresses that signs itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(each)) for each in (HOST, "::1")]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = directory / "server.crt", directory / "server.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return str(paths[0]), str(paths[1])


class _Chance:
    """In place of the random module, in the part of the emulator that asks how long a power action takes."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def randint(self, low: int, high: int) -> int:
        return self._seconds


def _with_insides(driver: Any) -> Any:
    """Return the emulator's driver for machines, able to answer questions about what is inside of them."""
    processors = [
        {
            "id": f"CPU{number}",
            "socket": f"CPU {number}",
            "vendor": "Contoso",
            "model": "Many-Core 1",
            "cores": 16,
            "threads": 32,
        }
        for number in range(2)
    ]
    disks = [{"Name": name, "CapacityBytes": size << 30} for name, size in (("small", 2), ("sda", 400), ("sdb", 800))]

    class Extended(driver):
        def get_processors(self, identity: str) -> Any:
            return processors

        def get_total_cpus(self, identity: str) -> int:
            return 64

        def get_total_memory(self, identity: str) -> int:
            return 64

        def get_simple_storage_collection(self, identity: str) -> Any:
            return {"sata": {"Id": "sata", "Name": "sata", "DeviceList": disks}}

    return Extended


def _module(name: str) -> Any:
    """Import a module of Debian's, and nothing else that is beside it."""
    spec = importlib.machinery.PathFinder.find_spec(name, [_DEBIAN])
    assert spec is not None and spec.loader is not None, "tools/packages.sh installs python3-libvirt"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    """Run the emulator."""
    parser = argparse.ArgumentParser(description="Redfish emulator with power actions of a given length.")
    parser.add_argument("--config", required=True)
    parser.add_argument("--delay", type=int, default=0)
    parser.add_argument("--extended", action="store_true")
    parser.add_argument("--libvirt", action="store_true")
    arguments = parser.parse_args()
    # The emulator looks for libvirt when it is imported.
    libvirt = [_module(name) for name in ("libvirtmod", "libvirt")][-1] if arguments.libvirt else None

    from sushy_tools.emulator import main as emulator
    from sushy_tools.emulator.resources.systems import fakedriver

    sys.argv = ["sushy-emulator", "--config", arguments.config]
    if libvirt:
        # What this hypervisor knows ends with its last connection, and the emulator opens one for each request.
        with contextlib.closing(libvirt.open(LIBVIRT)):
            return int(emulator.main())
    if arguments.extended:
        fakedriver.FakeDriver = _with_insides(fakedriver.FakeDriver)
    fakedriver.random = _Chance(arguments.delay)
    sys.argv.append("--fake")
    return int(emulator.main())


if __name__ == "__main__":
    sys.exit(main())

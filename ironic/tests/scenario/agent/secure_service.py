"""The all-in-one service over TLS, with a boot interface that hands ramdisks to the machines of these tests."""

import signal
from pathlib import Path

from ironic.tests.agent_double import make_certificate
from ironic.tests.live_service import Options, Service, create_database, free_port, write_options
from ironic.tests.out_of_tree import lay_out

BOOT = Path(__file__).with_name("handed_boot.py")
ENTRY_POINTS = "[ironic.hardware.interfaces.boot]\nhanded = handed_boot:HandedBoot\n"


class SecureService:
    """The service with all its files in one directory; it may be killed, and started again."""

    def __init__(self, directory: Path, extra: Options) -> None:
        self.directory, self._port = directory, free_port()
        self._package = lay_out(directory / "package", BOOT, ENTRY_POINTS)
        certificate, key = make_certificate()
        self.certificate.write_text(certificate)
        (directory / "service.key").write_text(key)
        self._files = [
            write_options(directory / "ironic.conf", _options(directory, self._port)),
            write_options(directory / "extra.conf", extra),
        ]
        create_database(*self._files)
        self._lives: list[Service] = []

    @property
    def url(self) -> str:
        """Where its API answers."""
        return f"https://127.0.0.1:{self._port}"

    @property
    def certificate(self) -> Path:
        """The file with its certificate, which has signed itself."""
        return self.directory / "service.pem"

    @property
    def log(self) -> str:
        """What it has logged in all its lives."""
        return "".join(life.log for life in self._lives)

    def start(self) -> None:
        """Start it, or start it again."""
        log = self.directory / f"life{len(self._lives)}.log"
        files = [*self._files, write_options(self.directory / "life.conf", {"DEFAULT": {"log_file": log}})]
        life = Service("ironic", files, log, self._port, {"PYTHONPATH": str(self._package)})
        self._lives.append(life)
        life.await_ready()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._lives[-1].signal(signal.SIGKILL)
        self._lives[-1].end()

    def stop(self) -> int:
        """Ask it to end, and return its exit status."""
        return self._lives[-1].stop() if self._lives else 0


def _options(directory: Path, port: int) -> Options:
    return {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "host": "conductor-1",
            "debug": True,
            "enabled_hardware_types": "fake-hardware",
            "enabled_boot_interfaces": "handed",
            "enabled_deploy_interfaces": "direct",
            "enabled_inspect_interfaces": "agent",
            "enabled_management_interfaces": "redfish",
            "enabled_network_interfaces": "noop",
            "enabled_power_interfaces": "redfish",
            "enabled_rescue_interfaces": "agent",
            "enabled_storage_interfaces": "noop",
            **{
                f"enabled_{kind}_interfaces": f"no-{kind}" for kind in ("bios", "console", "firmware", "raid", "vendor")
            },
        },
        "api": {
            "host_ip": "127.0.0.1",
            "port": port,
            "enable_ssl_api": True,
            "cert_file": directory / "service.pem",
            "key_file": directory / "service.key",
        },
        "agent": {
            "deploy_logs_local_path": directory / "logs",
            "post_deploy_get_power_state_retry_interval": 1,
            "post_deploy_get_power_state_retries": 20,
        },
        "conductor": {"automated_clean": True},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
        "deploy": {"default_boot_mode": "uefi"},
        "inspector": {"extra_kernel_params": "ipa-inspection-collectors=default,pci-devices"},
        "service_catalog": {"endpoint_override": f"https://127.0.0.1:{port}"},
    }

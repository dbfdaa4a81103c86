"""A running service takes a new certificate when it reads its files again; a bad one is not taken."""

import signal
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from ironic.tests.live_service import Service, all_in_one_below, free_port
from ironic.tests.redfish_bmc import write_certificate

PATIENCE: Final = 60
GROUPS: Final = ("api", "inspector_api", "vnc")


class Site(NamedTuple):
    """A service with TLS at three ports, and where its certificate is."""

    service: Service
    ports: tuple[int, ...]
    certificate: Path
    key: Path

    def shown(self) -> set[str]:
        """Return the certificates that clients see at the ports."""
        return {ssl.get_server_certificate(("127.0.0.1", port), timeout=PATIENCE) for port in self.ports}

    def read_again(self, said: str) -> None:
        """Have the service read its files, and wait until each server has said so."""
        before = self.service.log.count(said)
        self.service.signal(signal.SIGHUP)
        deadline = time.monotonic() + PATIENCE
        while self.service.log.count(said) < before + len(self.ports):
            assert time.monotonic() < deadline, self.service.log
            time.sleep(0.05)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    ports = tuple(free_port() for _ in GROUPS)
    certificate, key = write_certificate(tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "vnc_lite.html").write_text("<html>screen</html>")
    files = {"cert_file": certificate, "key_file": key}
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "state_path": tmp_path,
            "enabled_hardware_types": "fake-hardware",
            **{f"enabled_{kind}_interfaces": "fake" for kind in ("deploy", "boot", "management", "power")},
        },
        "api": {"enable_ssl_api": True, **files},
        "inspector_api": {"enabled": True, "host_ip": "127.0.0.1", "port": ports[1]},
        "vnc": {
            "enabled": True,
            "host_ip": "127.0.0.1",
            "port": ports[2],
            "novnc_web": tmp_path / "pages",
            "novnc_auth_schemes": "none",
            "enable_ssl": True,
            **files,
        },
    }
    with all_in_one_below(tmp_path, options, ports[0]) as service:
        yield Site(service, ports, Path(certificate), Path(key))


def test_a_new_certificate_is_shown_and_a_bad_one_is_not(site: Site, tmp_path: Path) -> None:
    old = site.certificate.read_text()
    assert site.shown() == {old}
    write_certificate(tmp_path)
    site.read_again("has read its certificate again")
    new = site.certificate.read_text()
    assert new != old and site.shown() == {new}

    good = site.key.read_text()
    (tmp_path / "other").mkdir()
    _, other = map(Path, write_certificate(tmp_path / "other"))
    for bad, reason in (
        (other.read_text(), "the key belongs to another certificate"),
        ("", "one of the files does not have it in PEM format"),
        (None, "No such file or directory"),
    ):
        site.key.unlink() if bad is None else site.key.write_text(bad)
        site.read_again("goes on with the certificate that it has")
        assert site.shown() == {new}
        for group in ("api", "vnc"):
            said = f"([{group}]cert_file) and the key {site.key} ([{group}]key_file) can't be used: {reason}"
            assert said in site.service.log
    site.key.write_text(good)

"""Files that a node names as whom to believe: pipes, devices and the like are reported at once, and never opened."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.agent.agent_access import access_of as access_of_agent
from ironic.drivers.modules.redfish.wire.bmc_access import access_of as access_of_bmc
from ironic.integrations import host_files
from ironic.tests.agent_double import make_certificate
from ironic.tests.unit.drivers.machine import Machine

CERTIFICATE = make_certificate()[0]
AGENT = {"agent_url": "https://192.0.2.7:9999", "agent_secret_token": "x"}


def pipe(directory: Path) -> Path:
    os.mkfifo(directory / "pipe")
    return directory / "pipe"


def link_to_pipe(directory: Path) -> Path:
    (directory / "link").symlink_to(pipe(directory))
    return directory / "link"


def unix_socket(directory: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(directory / "socket"))
    return directory / "socket"


ODD: dict[str, Callable[[Path], Any]] = {
    "a pipe": pipe,
    "a link to a pipe": link_to_pipe,
    "a socket": unix_socket,
    "a device that makes a terminal": lambda _: "/dev/ptmx",
    "a device without end": lambda _: "/dev/zero",
    "nothing": lambda directory: directory / "none",
    "a zero character": lambda _: "/etc/pass\0wd",
}


def of_agent(path: Any) -> Any:
    return access_of_agent(Machine(driver_info={"agent_verify_ca": str(path)}, driver_internal_info=AGENT), "x").trust


def of_bmc(path: Any) -> Any:
    info = {"redfish_address": "https://192.0.2.5", "redfish_verify_ca": str(path)}
    return access_of_bmc(Machine(driver_info=info)).verify


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("trust_of", [of_agent, of_bmc])
def test_it_takes_no_odd_file_and_says_the_same_of_all(
    tmp_path: Path, odd: str, trust_of: Callable[[Any], Any]
) -> None:
    texts = set()
    for path in (ODD[odd](tmp_path), tmp_path / "missing"):
        with pytest.raises(InvalidParameterValue) as refused:
            trust_of(path)
        texts.add(str(refused.value).replace(str(path), "PATH"))
    assert len(texts) == 1


def test_it_takes_files_links_and_directories(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(CERTIFICATE)
    (tmp_path / "link.pem").symlink_to("ca.pem")
    for name in ("ca.pem", "link.pem"):
        assert of_agent(tmp_path / name) == CERTIFICATE
        assert of_bmc(tmp_path / name) == str(tmp_path / name)
    assert of_agent(tmp_path) == of_bmc(tmp_path) == str(tmp_path)


@pytest.mark.parametrize("stored", ["/dev/ptmx", "false", "False", "/etc/ssl/certs/ca-certificates.crt", "x", True, 0])
def test_what_an_older_service_took_from_a_heartbeat_is_passed_over(stored: Any) -> None:
    node = Machine(driver_internal_info={**AGENT, "agent_verify_ca": stored})
    assert access_of_agent(node, "x").trust is True


def test_a_certificate_that_the_reference_has_stored_is_read_for_its_node_only(
    tmp_path: Path, conf: Callable[..., None]
) -> None:
    conf(agent__certificates_path=str(tmp_path / "certificates"))
    (tmp_path / "certificates").mkdir()
    node = Machine()
    own, other = (tmp_path / "certificates" / f"{name}.crt" for name in (node.uuid, "other"))
    elsewhere = tmp_path / f"{node.uuid}.crt"
    for path in (own, other, elsewhere):
        path.write_text(CERTIFICATE)
    for path, trusted in ((own, True), (other, False), (elsewhere, False), (own.with_suffix(".gone"), False)):
        node.driver_internal_info = {**AGENT, "agent_verify_ca": str(path)}
        trust = access_of_agent(node, "x").trust
        assert (trust == CERTIFICATE) == trusted, path
        assert (trust is True) != trusted
    # What is stored there is no more believed than what is sent.
    own.write_text("no certificate")
    node.driver_internal_info = {**AGENT, "agent_verify_ca": str(own)}
    assert access_of_agent(node, "x").trust is True


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    with pytest.raises(ValueError, match="too large"):
        host_files.read_regular_file(str(tmp_path / "large"))

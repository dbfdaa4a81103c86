"""The command line of ipmitool."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from ironic.core.errors import DriverLoadError
from ironic.drivers.modules.ipmi.bmc_access import Access
from ironic.drivers.modules.ipmi.command_line import check_tool, command_line

FILE = Path("/run/private/password")
CANARY = "canary-of-the-password"
ACCESS = Access("192.0.2.1", password=CANARY)


def test_the_shortest_one() -> None:
    line = command_line(ACCESS, ["power", "status"], FILE)
    wanted = "ipmitool -I lanplus -H 192.0.2.1 -L ADMINISTRATOR -f /run/private/password power status"
    assert line.arguments == tuple(wanted.split())


def test_the_order_of_all_options() -> None:
    bridge = ("-m", "0x20", "-B", "0", "-T", "0x82", "-b", "7", "-t", "0x72")
    access = Access("192.0.2.1", 6230, "admin", CANARY, b"\xff\x01", "USER", "lanplus", "3", bridge)
    line = command_line(access, ["mc", "info"], FILE, before=["-v"])
    assert line.arguments == (
        *("ipmitool", "-I", "lanplus", "-H", "192.0.2.1", "-L", "USER", "-p", "6230", "-U", "admin", "-K", "-C", "3"),
        *(*bridge, "-v", "-f", str(FILE), "mc", "info"),
    )
    assert line.environment["IPMI_KGKEY"] == b"\xff\x01"


def test_the_environment_holds_the_password_only_when_it_is_to() -> None:
    in_file = command_line(ACCESS, ["power", "status"], FILE)
    assert "IPMI_PASSWORD" not in in_file.environment
    in_environment = command_line(ACCESS, ["power", "status"], None)
    # Of a longer one ipmitool would say that it is too long.
    assert in_environment.environment["IPMI_PASSWORD"] == CANARY[:20].encode()
    assert "-E" in in_environment.arguments
    assert command_line(Access("192.0.2.1"), ["power", "status"], None).environment["IPMI_PASSWORD"] == b""


def test_neither_arguments_nor_texts_hold_secrets() -> None:
    access = Access("192.0.2.1", password=CANARY, kg_key=CANARY[:20].encode())
    for file in (FILE, None):
        line = command_line(access, ["power", "status"], file)
        assert CANARY[:20] not in " ".join(line.arguments)
        assert CANARY[:20] not in repr(line)


def test_the_environment_of_the_service_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPMI_PASSWORD", "of-another")
    monkeypatch.setenv("HOME", "/root")
    line = command_line(ACCESS, ["power", "status"], FILE)
    assert set(line.environment) <= {"PATH", "TZ", "LC_ALL"}
    assert line.environment["PATH"] == os.environ["PATH"]


def test_the_tool_of_this_host_will_do() -> None:
    check_tool()
    said = subprocess.run(["ipmitool", "-V"], capture_output=True, text=True, check=True).stdout
    assert [int(number) for number in re.findall(r"\d+", said)[:3]] >= [1, 8, 18]


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DriverLoadError, match="ipmitool can't be found; install it"):
        check_tool()


def test_a_tool_without_the_options_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "ipmitool"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(DriverLoadError, match="-R, -N"):
        check_tool()

"""What plug-ins ask of the options and of the host."""

import ipaddress
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import tenacity

from ironic.common import utils
from ironic.integrations import plug_in_host
from ironic.tests.conftest import Setter


@pytest.mark.parametrize(
    ("own", "option", "expected"), [({}, True, True), ({}, False, False), ({"fast_track": "no"}, True, False)]
)
def test_fast_track(own: dict[str, object], option: bool, expected: bool, conf: Setter) -> None:
    conf(deploy__fast_track=option)
    assert utils.fast_track_enabled(SimpleNamespace(driver_info=own)) is expected


def test_retries_by_an_option(conf: Setter) -> None:
    conf(minimum_memory_wait_retries=2)
    calls: list[int] = []

    @tenacity.retry(stop=utils.stop_after_retries("minimum_memory_wait_retries"), reraise=True)
    def fail() -> None:
        calls.append(1)
        raise OSError

    with pytest.raises(OSError):
        fail()
    # The first attempt is no retry.
    assert len(calls) == 3
    conf(conductor__node_locked_retry_attempts=0)
    stop = utils.stop_after_retries("node_locked_retry_attempts", "conductor")
    assert stop(SimpleNamespace(attempt_number=1))


def test_the_address_by_which_another_is_reached() -> None:
    assert utils.get_route_source("127.0.0.1") == "127.0.0.1"
    assert utils.get_route_source("127.9.9.9") is not None
    assert utils.get_route_source("no address") is None
    assert utils.get_route_source("localhost") is None
    assert utils.get_route_source("256.1.1.1") is None


class FarSocket:
    """A socket on a host whose only address is one of its link."""

    def __init__(self, *_arguments: object) -> None:
        pass

    def __enter__(self) -> "FarSocket":
        return self

    def __exit__(self, *_arguments: object) -> None:
        pass

    def connect(self, _address: object) -> None:
        pass

    def getsockname(self) -> tuple[str, int]:
        return "fe80::1", 7


def test_an_address_of_the_link_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket", FarSocket)
    assert utils.get_route_source("2001:db8::1") is None
    source = utils.get_route_source("2001:db8::1", ignore_link_local=False)
    assert source is not None and ipaddress.ip_address(source).is_link_local


def test_fips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fips_enabled"
    monkeypatch.setattr(plug_in_host, "_FIPS", path)
    assert utils.is_fips_enabled() is False
    for text, expected in (("1\n", True), ("0\n", False)):
        path.write_text(text)
        assert utils.is_fips_enabled() is expected


def test_an_import_brings_the_option_for_temporary_files() -> None:
    code = (
        "from oslo_config import cfg; CONF = cfg.CONF; CONF.import_opt('tempdir', 'ironic.common.utils'); "
        "CONF([], project='acme', default_config_files=[]); print(CONF.tempdir); "
        "from ironic.conf import CONF as ours; assert ours is CONF"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0 and ran.stdout.startswith("/"), ran.stderr

"""Getting through to a Redfish BMC, and what is said when that fails."""

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ironic.core.clock import CLOCK
from ironic.core.errors.hardware_errors import RedfishConnectionError, RedfishError
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.wire.connection_cache import CONNECTIONS
from ironic.tests.redfish_bmc import RedfishBmc
from ironic.tests.unit.drivers.machine import UUID, work_on

WRONG = "wrong-and-secret"


@pytest.mark.parametrize("auth_type", ["auto", "basic"])
def test_it_talks_tls_with_a_login(guarded_bmc: RedfishBmc, auth_type: str) -> None:
    task = work_on(driver_info=guarded_bmc.driver_info(redfish_auth_type=auth_type))
    assert RedfishPower().get_power_state(task) == "power off"


@pytest.mark.parametrize("auth_type", ["auto", "basic"])
def test_it_is_clear_about_a_wrong_password_and_keeps_it_to_itself(
    guarded_bmc: RedfishBmc, auth_type: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    info = guarded_bmc.driver_info(redfish_password=WRONG, redfish_auth_type=auth_type)
    with pytest.raises(RedfishError) as failure:
        RedfishPower().get_power_state(work_on(driver_info=info))
    told = str(failure.value)
    assert UUID in told
    assert guarded_bmc.address in told
    assert "redfish_password" in told
    for text in (told, repr(failure.value.facts), caplog.text):
        assert WRONG not in text


def test_a_wrong_password_is_no_use_where_the_right_one_was_before(guarded_bmc: RedfishBmc) -> None:
    power = RedfishPower()
    assert power.get_power_state(work_on(driver_info=guarded_bmc.driver_info())) == "power off"
    with pytest.raises(RedfishError, match="refuses the login"):
        power.get_power_state(work_on(driver_info=guarded_bmc.driver_info(redfish_password=WRONG)))
    assert power.get_power_state(work_on(driver_info=guarded_bmc.driver_info())) == "power off"


def test_it_does_not_trust_a_certificate_nobody_vouches_for(
    guarded_bmc: RedfishBmc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CLOCK, "sleep", lambda _seconds: pytest.fail("waiting makes no certificate better"))
    with pytest.raises(RedfishConnectionError) as failure:
        RedfishPower().get_power_state(work_on(driver_info=guarded_bmc.driver_info(redfish_verify_ca=True)))
    assert "certificate" in str(failure.value).lower()


def test_it_trusts_any_certificate_when_told_to(guarded_bmc: RedfishBmc) -> None:
    task = work_on(driver_info=guarded_bmc.driver_info(redfish_verify_ca=False))
    assert RedfishPower().get_power_state(task) == "power off"


def test_it_names_the_bmc_that_can_not_be_reached() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        task = work_on(driver_info={"redfish_address": address})
        with pytest.raises(RedfishConnectionError) as failure:
            RedfishPower().get_power_state(task)
    assert UUID in str(failure.value)
    assert failure.value.facts["address"] == address


def test_it_tries_again_until_the_bmc_answers(bmc: RedfishBmc, conf: Callable[..., Any]) -> None:
    conf(redfish__connection_attempts=5)
    # Bound and not listening, the port refuses connections and no other process can take it meanwhile.
    with socket.socket() as front:
        front.bind(("127.0.0.1", 0))
        over = threading.Event()
        relay = threading.Thread(target=_relay, args=(front, int(bmc.address.rsplit(":", 1)[1]), 1.0, over))
        relay.start()
        info = bmc.driver_info(0, redfish_address=f"http://127.0.0.1:{front.getsockname()[1]}")
        try:
            state = RedfishPower().get_power_state(work_on(driver_info=info))
        finally:
            over.set()
            relay.join()
    assert state in ("power off", "power on")


def test_it_needs_no_system_id_where_there_is_one_system(guarded_bmc: RedfishBmc) -> None:
    task = work_on(driver_info=guarded_bmc.driver_info(redfish_system_id=None))
    assert RedfishPower().get_power_state(task) == "power off"


def test_it_asks_for_a_system_id_where_there_are_several(bmc: RedfishBmc) -> None:
    with pytest.raises(RedfishError, match="redfish_system_id"):
        RedfishPower().get_power_state(work_on(driver_info=bmc.driver_info(redfish_system_id=None)))


def test_nodes_behind_one_bmc_share_a_connection(bmc: RedfishBmc) -> None:
    for index in range(3):
        RedfishPower().get_power_state(work_on(driver_info=bmc.driver_info(index)))
    before = len(CONNECTIONS)
    RedfishPower().get_power_state(work_on(driver_info=bmc.driver_info(3)))
    assert len(CONNECTIONS) == before


def test_it_works_without_keeping_connections(bmc: RedfishBmc, conf: Callable[..., Any]) -> None:
    conf(redfish__connection_cache_size=0)
    for _ in range(2):
        info = bmc.driver_info(0, redfish_username="operator", redfish_auth_type="basic")
        assert RedfishPower().get_power_state(work_on(driver_info=info)) is not None
    assert len(CONNECTIONS) == 0


def _relay(front: socket.socket, onward: int, after: float, over: threading.Event) -> None:
    """Listen from a while later on, and pass connections through one by one until it is over."""
    over.wait(after)
    front.listen()
    front.settimeout(0.1)
    while not over.is_set():
        with contextlib.suppress(OSError):  # not listening yet, or no longer
            client, _peer = front.accept()
            _pass_on(client, onward)


def _pass_on(client: socket.socket, onward: int) -> None:
    with client, socket.create_connection(("127.0.0.1", onward)) as bmc:
        bmc.sendall(client.recv(65536))
        while answer := bmc.recv(65536):
            client.sendall(answer)


@pytest.mark.parametrize(
    "address", ["https://169.254.169.254", "http://0.0.0.0:8000", "http://[::ffff:169.254.169.254]", "http://{api}"]
)
def test_no_bmc_is_where_none_can_be(conf: Callable[..., Any], address: str) -> None:
    """A user who may name a BMC makes the conductor connect from its own network."""
    with socket.create_server(("127.0.0.1", 0)) as api:
        api.settimeout(0)
        conf(api__host_ip="127.0.0.1", api__port=api.getsockname()[1])
        info = {"redfish_address": address.format(api=f"127.0.0.1:{api.getsockname()[1]}")}
        with pytest.raises(RedfishError, match="its address is"):
            RedfishPower().get_power_state(work_on(driver_info=info))
        with pytest.raises(BlockingIOError):
            api.accept()

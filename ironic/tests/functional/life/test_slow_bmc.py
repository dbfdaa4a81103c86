"""A BMC whose sensors take half a minute, whose sessions expire and which resets connections: counted at the BMC.

An ordinary run has sensors of two seconds; `make battery` has those of thirty.
"""

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.wire.connection_cache import CONNECTIONS
from ironic.tests.functional.drivers.hostile_bmc import SESSIONS, SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.functional.life import battery
from ironic.tests.unit.drivers.machine import Work, work_on

CHASSIS = "/redfish/v1/Chassis/1"
THERMAL = f"{CHASSIS}/Thermal"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
READERS, ORDERS, BOUND = 3, 6, 120.0


class Watch:
    """What happens at the BMC at a time."""

    def __init__(self, bmc: HostileBmc, seconds: float) -> None:
        self._bmc, self._seconds = bmc, seconds
        self._lock, self._now = threading.Lock(), Counter[str]()
        self.most = Counter[str]()
        self.is_read = threading.Event()
        # How many resets break off before they are carried out.
        self.breaks = 0
        # Resets that came with a good session.
        self.resets = 0

    def misbehave(self, handler: Handler) -> bool:
        path = handler.path.rstrip("/")
        if path == THERMAL:
            with self._lock:
                self._now[path] += 1
                self.most[path] = max(self.most[path], self._now[path])
            self.is_read.set()
            time.sleep(self._seconds)
            with self._lock:
                self._now[path] -= 1
        if path == RESET and handler.headers.get("X-Auth-Token") in self._bmc.tokens:
            self.resets += 1
        if path == RESET and self.breaks:
            self.breaks -= 1
            handler.connection.shutdown(socket.SHUT_RDWR)
            return True
        return False


def on(bmc: HostileBmc, node: str) -> Work:
    return work_on(uuid=node, driver_info=bmc.driver_info(), power_state=states.POWER_OFF)


@pytest.mark.parametrize("seconds", [2, pytest.param(30, marks=pytest.mark.battery)])
def test_orders_pass_slow_sensors_and_are_sent_once(conf: Callable[..., Any], seconds: int) -> None:
    # A BMC works on for a request that was given up; here none is.
    conf(redfish__connection_attempts=2, redfish__connection_retry_interval=1, bmc__telemetry_timeout=seconds + 60)
    with hostile_bmc("secret", Links={"Chassis": [{"@odata.id": CHASSIS}]}) as bmc:
        bmc.documents[CHASSIS] = {"Id": "1", "Name": "C", "ChassisType": "RackMount", "Thermal": {"@odata.id": THERMAL}}
        bmc.documents[THERMAL] = {"Id": "T", "Name": "T", "Temperatures": []}
        watch, over = Watch(bmc, seconds), threading.Event()
        bmc.misbehave = watch.misbehave

        def read_sensors(number: int) -> None:
            while not over.is_set():
                try:
                    RedfishManagement().get_sensors_data(on(bmc, f"node-{number}"))
                except IronicError:
                    over.wait(0.5)  # too slow, or it has enough of them

        took, failed = [], 0
        with ThreadPoolExecutor(READERS) as pool:
            readers = [pool.submit(read_sensors, number) for number in range(READERS)]
            try:
                for number in range(ORDERS):
                    watch.is_read.clear()
                    assert watch.is_read.wait(BOUND)
                    if number % 3 == 1:
                        bmc.expire_sessions()
                    watch.breaks = int(number % 3 == 2)
                    began = time.monotonic()
                    try:
                        target = states.POWER_OFF if bmc.documents[SYSTEM]["PowerState"] == "On" else states.POWER_ON
                        RedfishPower().set_power_state(on(bmc, "ordered"), target)
                    except IronicError:
                        failed += 1
                    took.append(time.monotonic() - began)
            finally:
                over.set()
            for reader in readers:
                reader.result(BOUND)
        assert watch.resets == ORDERS, "an order is sent once, also when its connection breaks off"
        assert bmc.count("POST", RESET) <= ORDERS + ORDERS // 3, "what a session was too old for is sent again"
        assert failed == ORDERS // 3
        assert watch.most[THERMAL] == 1, "telemetry has one request at a time"
        assert bmc.count("POST", SESSIONS) <= 1 + ORDERS // 3, "each expired session is renewed once"
        assert {was_right for _kind, was_right in bmc.logins} == {True}
        assert max(took) < 15, took
        CONNECTIONS.log_out(30)
        assert bmc.tokens == []
    figures = f"orders took {min(took):.1f} to {max(took):.1f} s, {bmc.count('GET', THERMAL)} readings"
    battery.survived("slow BMC", f"sensors of {seconds} s", "401s and resets", figures, sum(took))

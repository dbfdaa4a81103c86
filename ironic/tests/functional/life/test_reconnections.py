"""A broker that drops its clients again and again leaves nothing behind in the API and the conductor."""

import time
from pathlib import Path

import pytest

from ironic.tests.databases import database_with_tables
from ironic.tests.functional.life.counts import Counted, Counts, grown
from ironic.tests.live_service import Options
from ironic.tests.relay import Relay, relay
from ironic.tests.site import Site

# Reconnect at once: the pauses are the library's and are not what is counted.
QUICK: Options = {
    "oslo_messaging_rabbit": {
        "kombu_reconnect_delay": 0.01,
        "rabbit_retry_interval": 1,
        "rabbit_interval_max": 1,
        "heartbeat_timeout_threshold": 0,
    }
}
# What a process may keep per reconnection, and once: bytes, then objects of Python.
BYTES_ONCE, BYTES_EACH = 4 * 1024 * 1024, 1024
OBJECTS_ONCE, OBJECTS_EACH = 3000, 2
FEW, FEW_CLASSES = 12, 30


def reconnect(site: Site, node: str, through: Relay, times: int) -> int:
    """Cut all connections, have the API ask the conductor over new ones, and repeat; return how many were cut."""
    cut = 0
    for _ in range(times):
        cut += through.cut()
        deadline = time.monotonic() + 60
        while (answer := site.get(f"/v1/nodes/{node}/management/boot_device/supported")).status_code != 200:
            assert answer.status_code == 503 and time.monotonic() < deadline, answer.text
    return cut


@pytest.mark.parametrize(("warm", "times"), [(3, 6), pytest.param(100, 1000, marks=pytest.mark.battery)])
def test_reconnections_leave_nothing(tmp_path: Path, warm: int, times: int) -> None:
    counted = {name: Counted(tmp_path, name) for name in ("api", "one")}
    environments = {name: each.environment for name, each in counted.items()}
    with relay("127.0.0.1", 5672) as through, database_with_tables("sqlite", tmp_path) as database:
        broker = f"rabbit://guest:guest@127.0.0.1:{through.port}/"
        site = Site(tmp_path, database, broker, environments=environments)
        try:
            for service in (site.start_api(QUICK), site.start_conductor("one", QUICK)):
                service.await_ready()
            node = site.create_node()["uuid"]
            reconnect(site, node, through, warm)
            before = {name: each.now() for name, each in counted.items()}
            cut = reconnect(site, node, through, times)
            assert cut >= times
            most = Counts(
                bytes=BYTES_ONCE + BYTES_EACH * cut,
                files=FEW,
                threads=FEW,
                connections=FEW,
                objects=OBJECTS_ONCE + OBJECTS_EACH * cut,
                classes=FEW_CLASSES,
                wsme=0,
            )
            for name, each in counted.items():
                kept = grown(each, before[name], most)
                more = {field: value for field, value in kept._asdict().items() if value > getattr(most, field)}
                assert not more, (name, cut, kept)
        finally:
            site.stop()

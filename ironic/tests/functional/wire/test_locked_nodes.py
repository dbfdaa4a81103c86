"""What becomes of a change while another operation holds the node."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.api.settings import ApiSettings
from ironic.core.context import background_purpose
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

PATCH = [{"op": "add", "path": "/extra/a", "value": 1}]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path, ApiSettings(node_locked_attempts=3, node_locked_interval=0.2))
    running.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "enroll"})
    yield running
    running.close()


def test_a_change_waits_for_the_node_to_be_released(service: Service) -> None:
    record = service.store.nodes.reserve("n", "host")
    release = threading.Timer(0.1, service.store.nodes.release, (record, "host"))
    release.start()
    response = service.call("PATCH", "/v1/nodes/n", body=PATCH)
    release.join()
    assert (response.status, response.json["extra"]) == (200, {"a": 1})


def test_a_release_ends_the_waiting_at_once(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(node_locked_attempts=2, node_locked_interval=30))
    record = service.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "enroll"})
    held = service.store.nodes.reserve(record.id, "host")
    release = threading.Timer(0.1, service.store.nodes.release, (held, "host"))
    release.start()
    begun = time.monotonic()
    assert service.call("PATCH", "/v1/nodes/n", body=PATCH).status == 200
    assert time.monotonic() - begun < 5
    release.join()
    service.close()


def test_a_change_of_a_node_that_stays_held_is_a_conflict_in_the_end(service: Service) -> None:
    service.store.nodes.reserve("n", "host")
    begun = time.monotonic()
    response = service.call("PATCH", "/v1/nodes/n", body=PATCH)
    assert response.status == 409
    assert 0.35 < time.monotonic() - begun < 10
    assert service.store.nodes.get("n").extra == {}


def test_a_conflict_names_holder_and_purpose(service: Service) -> None:
    service.store.nodes.reserve("n", "host-a", "provision verb clean")
    response = service.call("PATCH", "/v1/nodes/n", body=PATCH)
    assert response.status == 409
    assert b"is in use by conductor host-a (provision verb clean)" in response.body


def test_a_change_waits_longer_for_background_work(service: Service) -> None:
    held = service.store.nodes.reserve("n", "host", background_purpose("bringing power back"))
    release = threading.Timer(0.8, service.store.nodes.release, (held, "host"))
    release.start()
    assert service.call("PATCH", "/v1/nodes/n", body=PATCH).status == 200
    release.join()


def test_other_writers_go_on_while_a_change_waits(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(node_locked_attempts=2, node_locked_interval=30))
    for name in ("n", "free"):
        service.store.nodes.create({"driver": "fake-hardware", "name": name, "provision_state": "enroll"})
    held = service.store.nodes.reserve("n", "host")
    waiting = threading.Thread(target=service.call, args=("PATCH", "/v1/nodes/n"), kwargs={"body": PATCH})
    waiting.start()
    time.sleep(0.05)
    assert service.call("PATCH", "/v1/nodes/free", body=PATCH).status == 200
    assert waiting.is_alive()
    service.store.nodes.release(held, "host")
    waiting.join()
    service.close()


def test_changes_of_one_node_at_the_same_time_all_stay(service: Service) -> None:
    def change(number: int) -> None:
        body = [{"op": "add", "path": f"/extra/k{number}", "value": number}]
        assert service.call("PATCH", "/v1/nodes/n", body=body).status == 200

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert service.store.nodes.get("n").extra == {f"k{number}": number for number in range(8)}

"""A backup is made of a service that works, and a restore is refused beside it; what was locked then is freed later."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.db import connect, engines
from ironic.db.transfer import Origin, transfer
from ironic.tests.databases import empty_database
from ironic.tests.live_service import Options, Service, all_in_one_below, write_options
from ironic.tests.site import FAKES, NONE, eventually

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}


def options(directory: Path) -> Options:
    return {
        "DEFAULT": {
            "state_path": directory,
            "enabled_hardware_types": "fake-hardware",
            "enabled_network_interfaces": "noop",
            "enabled_storage_interfaces": "noop",
            **FAKES,
            **NONE,
        },
        "conductor": {"heartbeat_interval": 1, "heartbeat_timeout": 5},
        "fake": {"deploy_delay": 8},
    }


def dbsync(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    configuration = directory / "dbsync.conf"
    write_options(
        configuration,
        {
            "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
            "conductor": {"heartbeat_timeout": 5},
        },
    )
    program = [sys.executable, "-m", "ironic.command.dbsync", "--config-file", str(configuration), *words]
    return subprocess.run(program, capture_output=True, text=True, timeout=120)


def ask(service: Service, method: str, path: str, body: object = None) -> Any:
    answer = requests.request(method, f"{service.url}{path}", json=body, headers=HEADERS, timeout=30)
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


def create(service: Service, number: int) -> str:
    """Create a node with a port and return its UUID."""
    uuid: str = ask(service, "POST", "/v1/nodes", {"driver": "fake-hardware", "automated_clean": False})["uuid"]
    ask(
        service,
        "POST",
        "/v1/ports",
        {"node_uuid": uuid, "address": f"52:54:00:00:{number // 256:02x}:{number % 256:02x}"},
    )
    return uuid


def test_a_backup_under_load_is_restored_once_the_service_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "one.backup"
    with all_in_one_below(tmp_path, options(tmp_path)) as service:
        deployed = create(service, 0)
        for verb, state in (("manage", "manageable"), ("provide", "available"), ("active", "deploying")):
            ask(service, "PUT", f"/v1/nodes/{deployed}/states/provision", {"target": verb})
            eventually(lambda: ask(service, "GET", f"/v1/nodes/{deployed}")["provision_state"], state)
        created, enough, stop = [create(service, 1)], threading.Event(), threading.Event()

        def work() -> None:
            for number in range(2, 60_000):
                if stop.is_set():
                    return
                created.append(create(service, number))
                if len(created) > 20:
                    enough.set()

        worker = threading.Thread(target=work)
        worker.start()
        assert enough.wait(60)
        before = list(created)
        done = dbsync(tmp_path, "backup", str(path))
        after = len(created)
        stop.set()
        worker.join()
        assert (done.returncode, done.stderr) == (0, "")
        assert after > len(before)
        done = dbsync(tmp_path, "restore", str(path))
        assert done.returncode == 1
        assert f"process {service.process_id} has the file open" in done.stderr
        assert {node["uuid"] for node in ask(service, "GET", "/v1/nodes")["nodes"]} == {deployed, *created}
    done = dbsync(tmp_path, "restore", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    store = connect(f"sqlite:///{tmp_path}/service.sqlite")
    assert store.nodes.get(deployed).reservation == "conductor-1"
    store.close()
    # It is read for the line that the service is ready.
    (tmp_path / "service.log").unlink()
    with all_in_one_below(tmp_path, options(tmp_path)) as service:
        nodes = {node["uuid"] for node in ask(service, "GET", "/v1/nodes")["nodes"]}
        assert {deployed, *before} <= nodes <= {deployed, *created}
        owners = [port["node_uuid"] for port in ask(service, "GET", "/v1/ports?fields=node_uuid")["ports"]]
        # The last node may be without the port that was about to be added.
        assert len(owners) == len(set(owners)) and {deployed, *before} <= set(owners) <= nodes
        eventually(lambda: ask(service, "GET", f"/v1/nodes/{deployed}")["provision_state"], "deploy failed")
        found = ask(service, "GET", f"/v1/nodes/{deployed}")
        assert found["reservation"] is None and found["last_error"]


def test_a_service_does_not_start_on_half_of_a_copy(tmp_path: Path) -> None:
    with all_in_one_below(tmp_path, options(tmp_path)) as service:
        create(service, 1)
    (tmp_path / "there").mkdir()
    with empty_database("sqlite", tmp_path / "there") as url:
        source = engines.create(f"sqlite:///{tmp_path}/service.sqlite", engines.PoolOptions())
        target = engines.create(url, engines.PoolOptions())
        steps = transfer(Origin.of(source), target, "copy", "run `ironic-dbsync copy` again.")
        next(steps)
        steps.close()
        source.dispose()
        target.dispose()
        log = tmp_path / "half.log"
        half = write_options(
            tmp_path / "half.conf",
            {
                "DEFAULT": {
                    "auth_strategy": "noauth",
                    "rpc_transport": "none",
                    "log_file": log,
                    "state_path": tmp_path,
                },
                "database": {"connection": url},
            },
        )
        status, output = Service("ironic", [half], log).end()
        assert status == 1
        assert "is not complete, so that it can't be used: run `ironic-dbsync copy` again." in output
        done = dbsync(tmp_path, "copy", "--to", url)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", [("--to", "nonsense"), ("--to", "mysql+pymysql://u:secret-word@127.0.0.1:1/x")])
def test_a_bad_target_is_a_sentence_without_its_password(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert dbsync(tmp_path, "upgrade").returncode == 0
    done = dbsync(tmp_path, "copy", *words)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "secret-word" not in done.stderr + done.stdout

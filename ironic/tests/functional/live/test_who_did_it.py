"""What is recorded of a change by a user of http_basic: node history and access log name the same user and request."""

from pathlib import Path

import bcrypt
import requests

from ironic.core.hardware_interfaces import KINDS
from ironic.tests.live_service import all_in_one, free_port, write_options
from ironic.tests.site import eventually

USER, PASSWORD = "alice", "a good password"


def test_history_and_access_log_name_the_user_and_the_request(tmp_path: Path) -> None:
    port, users = free_port(), tmp_path / "htpasswd"
    users.write_text(f"{USER}:{bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()}\n")
    interfaces = {kind: "noop" if kind in ("network", "storage") else "fake" for kind in KINDS}
    configuration = write_options(
        tmp_path / "ironic.conf",
        {
            "DEFAULT": {
                "auth_strategy": "http_basic",
                "http_basic_auth_user_file": users,
                "rpc_transport": "none",
                "host": "conductor-1",
                "log_file": tmp_path / "log",
                "enabled_hardware_types": "fake-hardware",
                **{f"enabled_{kind}_interfaces": name for kind, name in interfaces.items()},
            },
            "api": {"host_ip": "127.0.0.1", "port": port},
            "database": {"connection": f"sqlite:///{tmp_path}/service.sqlite"},
        },
    )
    with all_in_one([configuration], tmp_path / "log", port) as running, requests.Session() as session:
        session.auth = (USER, PASSWORD)
        session.headers["X-OpenStack-Ironic-API-Version"] = "1.115"

        def state() -> object:
            return session.get(f"{running.url}/v1/nodes/n", timeout=30).json()["provision_state"]

        made = session.post(f"{running.url}/v1/nodes", json={"driver": "fake-hardware", "name": "n"}, timeout=30)
        assert made.status_code == 201, made.text
        path, hold = "/v1/nodes/n/states/provision", {"interface": "deploy", "step": "hold"}

        def ask(wanted: str, verb: str, **more: object) -> str:
            answer = session.put(f"{running.url}{path}", json={"target": verb, **more}, timeout=30)
            assert answer.status_code == 202, answer.text
            eventually(state, wanted)
            return str(answer.headers["openstack-request-id"])

        ids = [
            ask("manageable", "manage"),
            ask("clean hold", "clean", clean_steps=[hold]),
            ask("clean failed", "abort"),
        ]
        history = session.get(f"{running.url}/v1/nodes/n/history?detail=true", timeout=30).json()["history"]
        assert history and {entry["user"] for entry in history} == {USER}
        long = session.get(f"{running.url}/v1/nodes/{chr(10) * 900}?password=x&name={'y' * 3000}", timeout=30)
        assert long.status_code == 400
    # Of each of the moves the log of the conductor's thread has lines, which name the request and the user.
    logged = [line for line in running.log.splitlines() if " ironic.conductor." in line]
    for request_id in ids:
        assert any(f"[- {request_id} {USER} - " in line for line in logged), request_id
    # What no request has begun has no name.
    assert any(" ironic.conductor.service [-] " in line for line in logged)
    written = (tmp_path / "access.log").read_text().splitlines()
    assert max(map(len, written)) < 2048
    assert written[-1].endswith(f"400 {written[-1].split()[-2]} {long.headers['openstack-request-id']}")
    assert USER in written[-1] and "%0A%0A" in written[-1] and "bytes in all" in written[-1]
    lines = [one.split() for one in (tmp_path / "access.log").read_text().splitlines() if f'"PUT {path}"' in one]
    assert [line[2:4] for line in lines] == [["127.0.0.1", USER]] * 3
    assert [line[-1] for line in lines] == ids

"""The all-in-one service with the API of the standalone inspector on a port of its own."""

from pathlib import Path

import requests

from ironic.tests.functional.live.test_all_in_one import operators_file
from ironic.tests.live_service import Options, all_in_one, free_port, listens, write_options


def test_it_is_off_by_default(tmp_path: Path) -> None:
    old, port = free_port(), free_port()
    files = [operators_file(tmp_path, port)]
    options: Options = {"inspector_api": {"host_ip": "127.0.0.1", "port": old}}
    with all_in_one([*files, write_options(tmp_path / "old.conf", options)], tmp_path / "service.log", port):
        assert not listens(old)


def test_both_apis_answer_and_end_together(tmp_path: Path) -> None:
    old, port = free_port(), free_port()
    options: Options = {
        "inspector_api": {"enabled": True, "host_ip": "127.0.0.1", "port": old},
        "api": {"max_limit": 7},
    }
    files = [operators_file(tmp_path, port), write_options(tmp_path / "old.conf", options)]
    with all_in_one(files, tmp_path / "service.log", port) as service:
        assert service.get("/v1/nodes").json() == {"nodes": []}
        url = f"http://127.0.0.1:{old}"
        assert requests.get(f"{url}/v1/introspection", timeout=30).json() == {"introspection": []}
        # Each has its own paths, and its own shape of errors.
        assert requests.get(f"{url}/v1/nodes", timeout=30).json().keys() == {"error"}
        assert service.get("/v1/introspection").json().keys() == {"error_message"}
        # A page of another site can't make a browser ask either of them.
        foreign = {"Origin": "https://evil.example", "Host": f"127.0.0.1:{old}"}
        refused = requests.post(f"{url}/v1/introspection/x", headers=foreign, timeout=30)
        assert (refused.status_code, list(refused.json())) == (403, ["error"])
        rebound = requests.get(f"{url}/v1/introspection", headers={"Host": "evil.example"}, timeout=30)
        assert rebound.status_code == 403
    assert not listens(old) and not listens(port)
    assert "Traceback" not in service.log


def test_reports_to_both_addresses_count_together(tmp_path: Path) -> None:
    old, port = free_port(), free_port()
    options: Options = {
        "inspector_api": {"enabled": True, "host_ip": "127.0.0.1", "port": old},
        "api": {"inspection_reports_per_minute": 4},
    }
    files = [operators_file(tmp_path, port), write_options(tmp_path / "old.conf", options)]
    report = {"inventory": {"interfaces": [{"mac_address": "52:54:00:00:00:01"}]}}
    with all_in_one(files, tmp_path / "service.log", port):
        urls = [f"http://127.0.0.1:{port}/v1/continue_inspection", f"http://127.0.0.1:{old}/v1/continue"]
        seen = [requests.post(urls[turn % 2], json=report, timeout=30).status_code for turn in range(12)]
    assert seen[:4] == [404] * 4
    assert 503 in seen[4:]
    # A minute gives back no more than its worth, however slow the machine is.
    assert seen.count(404) < 12

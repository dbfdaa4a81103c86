"""An operator's policy file and a running service: what stops its start, and a change that needs no restart."""

from pathlib import Path

import requests

from ironic.tests.functional.live.test_rights import configured
from ironic.tests.functional.wire import keystone
from ironic.tests.live_service import Service, all_in_one, create_database, free_port
from ironic.tests.site import eventually

RULE = "baremetal:node:list"


def test_a_rule_that_can_not_be_parsed_stops_the_start(tmp_path: Path) -> None:
    configuration = configured(tmp_path, "http://127.0.0.1:9", free_port())
    (tmp_path / "policy.yaml").write_text(f'"{RULE}": "role:reader or (("\n')
    create_database(configuration)
    service = Service("ironic", [configuration], tmp_path / "log")
    status, printed = service.end()
    assert status != 0
    assert f"policy.yaml: rule {RULE} can't be parsed" in service.log + printed


def test_a_changed_file_counts_without_a_restart(tmp_path: Path) -> None:
    port = free_port()
    with keystone.playing() as url:
        configuration = configured(tmp_path, url, port)
        file = tmp_path / "policy.yaml"

        def put(text: str) -> None:
            (tmp_path / "fresh").write_text(text)
            (tmp_path / "fresh").replace(file)

        def status() -> int:
            headers = {"X-Auth-Token": "owner-member"}
            return requests.get(f"http://127.0.0.1:{port}/v1/nodes", headers=headers, timeout=30).status_code

        put(f'"{RULE}": "role:member"\n')
        with all_in_one([configuration], tmp_path / "log", port) as running:
            assert status() == 200
            put(f'"{RULE}": "!"\n')
            eventually(status, 403)
            put(f'"{RULE}": "role:member or (("\n')
            eventually(lambda: "The access rules read before stay in force" in (status(), running.log)[1], True)
            assert status() == 403
            put(f'"{RULE}": "role:member"\n')
            eventually(status, 200)


def test_rules_that_are_not_used_are_named_at_the_start(tmp_path: Path) -> None:
    port = free_port()
    configuration = configured(tmp_path, "http://127.0.0.1:9", port)
    (tmp_path / "policy.yaml").write_text(f'"{RULE}": "!"\n')
    configuration.write_text(configuration.read_text().replace("auth_strategy = keystone", "auth_strategy = noauth"))
    with all_in_one([configuration], tmp_path / "log", port) as running:
        assert requests.get(f"http://127.0.0.1:{port}/v1/nodes", timeout=30).status_code == 200
        said = "Without effect: [oslo_policy]policy_file: with [DEFAULT]auth_strategy = noauth every caller may do"
        assert said in running.log

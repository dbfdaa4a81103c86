"""Projects give no kernel parameters of the agent but those of the option, in no spelling; operators give all."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Service

KEYS = [
    ("instance_info", "kernel_append_params"),
    ("instance_info", "ramdisk_kernel_arguments"),
    ("driver_info", "kernel_append_params"),
]


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    running = keystone.service(tmp_path, identity, conf)
    yield running
    running.close()


def status(service: Service, token: str, column: str, key: str, value: Any) -> int:
    whole = [{"op": "add", "path": f"/{column}", "value": {key: value}}]
    part = [{"op": "add", "path": f"/{column}/{key}", "value": value}]
    before = service.contents()
    found = ask(service, token, "PATCH", f"/v1/nodes/{OWNED}", part).status
    if found != 200:
        assert service.contents() == before
    assert ask(service, token, "PATCH", f"/v1/nodes/{OWNED}", whole).status == found
    return found


@pytest.mark.parametrize("column, key", KEYS)
@pytest.mark.parametrize(
    "value",
    [
        "ipa-api-url=http://evil.example",
        "nofb ipa-insecure=1",
        "ipa-ntp-server=x;reboot",
        "ipa_api_url=x",
        "IPA-API-URL=x",
        "Ipa_Debug",
        "%default% ipa-debug=1",
        "ip%default%a-debug=1",
        "a=1%default%ipa-debug=1",
        "nofb -- ipa-debug",
        "--ipa-debug",
        '"ipa-debug=1"',
        "'ipa-debug=1'",
        'ip"a-deb"ug=1',
        'note="x ipa-debug=1"',
    ],
)
def test_a_project_gives_none_of_the_agent(service: Service, column: str, key: str, value: str) -> None:
    assert status(service, "owner-member", column, key, value) == 400
    assert status(service, "system-admin", column, key, value) == 200


def test_a_lessee_gives_none_either(service: Service) -> None:
    assert status(service, "lessee-admin", "instance_info", "kernel_append_params", "ipa-insecure=1") == 400


@pytest.mark.parametrize("column, key", KEYS)
@pytest.mark.parametrize(
    "value", ["nofb", "%default% console=ttyS0", "systemd.unit=ipa-x", "iparted=1", "xipa-a", None]
)
def test_a_project_gives_others(service: Service, column: str, key: str, value: str | None) -> None:
    assert status(service, "owner-member", column, key, value) == 200


def test_an_option_names_those_that_a_project_may_give(service: Service) -> None:
    ramdisk = replace(service.settings.ramdisk, project_kernel_parameters=("ipa-debug", "ipa_collect_lldp"))
    object.__setattr__(service.settings, "ramdisk", ramdisk)
    for value, expected in (("ipa-debug=1 ipa-collect-lldp=1", 200), ("IPA_DEBUG=1", 200), ("ipa-debugx=1", 400)):
        assert status(service, "owner-member", "driver_info", "kernel_append_params", value) == expected


def test_what_an_operator_gave_is_no_change_of_a_project(service: Service) -> None:
    given = {"kernel_append_params": "ipa-debug=1"}
    service.store.nodes.update(OWNED, {"driver_info": given})
    change = [{"op": "add", "path": "/driver_info", "value": given | {"deploy_kernel": "http://images/k"}}]
    assert ask(service, "owner-member", "PATCH", f"/v1/nodes/{OWNED}", change).status == 200


@pytest.mark.parametrize("column, key", KEYS)
def test_a_new_node_of_a_project_gives_none(service: Service, column: str, key: str) -> None:
    body = {"driver": "fake-hardware", column: {key: "ipa-debug=1"}}
    assert ask(service, "owner-admin", "POST", "/v1/nodes", body).status == 400
    assert ask(service, "system-admin", "POST", "/v1/nodes", body).status == 201

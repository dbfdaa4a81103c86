"""The login of one project for a server of images is not sent to where another project points the node."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.secrets.masking import REPLACEMENT
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Response, Service

STORED = {
    "image_source": "https://images.example.com/a.qcow2",
    "image_server_auth_strategy": "http_basic",
    "image_server_user": "lessee",
    "image_server_password": "old",
    "image_url": "https://images.example.com/a?temp_url_sig=old",
}
EVIL = "https://192.0.2.1/a.qcow2"
PATH = f"/v1/nodes/{OWNED}"


@pytest.fixture
def service(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        running.store.nodes.update(OWNED, {"instance_info": dict(STORED)})
        yield running
        running.close()


def op(op: str, path: str, *value: Any) -> dict[str, Any]:
    return {"op": op, "path": path} | ({"value": value[0]} if value else {})


def patch(service: Service, token: str, *changes: dict[str, Any]) -> Response:
    return ask(service, token, "PATCH", PATH, list(changes))


def stored(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.store.nodes.get(OWNED).instance_info
    return found


MASKED = STORED | {"image_server_password": REPLACEMENT, "image_url": REPLACEMENT}
ATTACKS: dict[str, list[dict[str, Any]]] = {
    "another image": [op("replace", "/instance_info/image_source", EVIL)],
    "no image, for a later one": [op("remove", "/instance_info/image_source")],
    "another address of it": [op("replace", "/instance_info/image_url", EVIL)],
    "the whole with masks": [op("replace", "/instance_info", MASKED | {"image_source": EVIL})],
    "a mask as secret": [
        op("replace", "/instance_info/image_source", EVIL),
        op("add", "/instance_info/image_server_password", REPLACEMENT),
    ],
    "a secret taken back": [
        op("replace", "/instance_info/image_source", EVIL),
        op("add", "/instance_info/image_server_password", "mine"),
        op("add", "/instance_info/image_server_password", REPLACEMENT),
    ],
    "a proxy": [op("add", "/driver_info/image_http_proxy", "http://192.0.2.1:3128")],
    "a proxy in a whole": [op("replace", "/driver_info", {"image_https_proxy": "http://192.0.2.1:3128"})],
    "a list of checksums": [op("add", "/instance_info/image_checksum", "https://192.0.2.1/sums")],
}


@pytest.mark.parametrize("token", ["owner-member", "owner-admin"])
@pytest.mark.parametrize("changes", ATTACKS.values(), ids=ATTACKS)
def test_a_project_brings_the_login_along_or_gets_a_400(
    service: Service, token: str, changes: list[dict[str, Any]]
) -> None:
    before = service.store.nodes.get(OWNED).driver_info
    answer = patch(service, token, *changes)
    assert answer.status == 400
    assert b"in the same patch" in answer.body
    assert b"instance_info/image_server_password" in answer.body
    assert (stored(service), service.store.nodes.get(OWNED).driver_info) == (STORED, before)


@pytest.mark.parametrize("name", [name for name in ATTACKS if "mask" not in name and "taken" not in name])
def test_who_stands_above_the_projects_changes_places_alone(service: Service, name: str) -> None:
    assert patch(service, "system-admin", *ATTACKS[name]).status == 200


def test_with_its_login_a_place_is_changed(service: Service) -> None:
    place = op("replace", "/instance_info/image_source", EVIL)
    login = op("add", "/instance_info/image_server_password", "mine")
    assert patch(service, "owner-member", place, login).status == 200
    assert stored(service)["image_server_password"] == "mine"


def test_the_login_goes_first_and_then_the_place_is_free(service: Service) -> None:
    assert patch(service, "owner-member", op("remove", "/instance_info/image_server_password")).status == 200
    assert patch(service, "owner-member", op("replace", "/instance_info/image_source", EVIL)).status == 200


def test_masks_that_are_sent_back_keep_the_login_where_it_was(service: Service) -> None:
    shown = ask(service, "owner-member", "GET", PATH).json["instance_info"]
    changed = shown | {"display_name": "web"}
    assert patch(service, "owner-member", op("replace", "/instance_info", changed)).status == 200
    assert stored(service) == STORED | {"display_name": "web"}


def test_a_login_of_the_node_is_not_sent_to_an_image_of_the_lessee(service: Service) -> None:
    driver_info = {"image_pull_secret": "owner:secret", "deploy_kernel": "http://images.example.com/k"}
    service.store.nodes.update(OWNED, {"instance_info": {}, "driver_info": driver_info, "lessee": "lessees"})
    place = op("add", "/instance_info/image_source", "oci://192.0.2.1/a")
    answer = patch(service, "lessee-admin", place)
    assert answer.status == 400 and b"driver_info/image_pull_secret" in answer.body
    own = op("add", "/instance_info/image_pull_secret", "lessee:secret")
    assert patch(service, "lessee-admin", place, own).status == 200
    assert patch(service, "lessee-admin", op("remove", "/instance_info/image_pull_secret")).status == 400
    assert patch(service, "lessee-admin", op("replace", "/instance_info", {})).status == 200

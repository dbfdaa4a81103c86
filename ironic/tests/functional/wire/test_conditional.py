"""Conditional GET: what a client that has a document already is spared."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.api.answers import LONGEST_TAGGED
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import NEWEST, Service

PATCH = [{"op": "add", "path": "/extra/a", "value": 1}]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    running.store.nodes.create({"driver": "fake-hardware", "name": "n", "provision_state": "enroll"})
    yield running
    running.close()


def tag(service: Service, path: str, version: str = NEWEST) -> str:
    return service.call("GET", path, version=version).headers["ETag"]


PATHS = [
    "/",
    "/v1",
    "/v1/openapi.json",
    "/v1/nodes/n",
    "/v1/nodes",
    "/v1/nodes/detail",
    "/v1/ports",
    "/v1/nodes/n/states",
    "/v1/shards",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_document_that_the_client_has_is_not_sent_again(service: Service, path: str) -> None:
    known = tag(service, path)
    answer = service.call("GET", path, headers={"If-None-Match": known})
    assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", known)
    assert answer.headers[services.VERSION_HEADER] == NEWEST
    assert not answer.headers.keys() & {"Content-Type", "Content-Length"}


@pytest.mark.parametrize("path", ["/v1/nodes/n", "/v1/nodes/detail"])
def test_a_document_that_has_changed_is_sent(service: Service, path: str) -> None:
    known = tag(service, path)
    assert service.call("PATCH", "/v1/nodes/n", body=PATCH).status == 200
    answer = service.call("GET", path, headers={"If-None-Match": known})
    assert (answer.status, answer.headers["ETag"] != known) == (200, True)
    assert b'"a":1' in answer.body


@pytest.mark.parametrize(
    ("held", "status"),
    [
        ("{}", 304),
        ("W/{}", 304),
        ('"x", {}', 304),
        ('W/"x",{} , "y"', 304),
        ("*", 304),
        (" * ", 304),
        ('"x"', 200),
        ("", 200),
        ("{bare}", 200),
        ('"', 200),
        ('"a,b", "c', 200),
        ('"{bare}x"', 200),
    ],
)
def test_any_of_the_tags_a_client_names_counts(service: Service, held: str, status: int) -> None:
    known = tag(service, "/v1/nodes/n")
    header = held.replace("{bare}", known.strip('"')).replace("{}", known)
    assert service.call("GET", "/v1/nodes/n", headers={"If-None-Match": header}).status == status


def test_versions_of_a_document_have_tags_of_their_own(service: Service) -> None:
    assert tag(service, "/v1/nodes/n", "1.50") != tag(service, "/v1/nodes/n", "1.51")
    assert service.call("GET", "/v1/nodes/n").headers["Vary"].startswith("X-OpenStack-Ironic-API-Version")


SHOWS_TRAITS = ["/v1/nodes/n", "/v1/nodes/detail", "/v1/nodes?fields=name,traits", "/v1/nodes/n/traits"]


@pytest.mark.parametrize("path", SHOWS_TRAITS)
def test_a_change_of_a_part_changes_the_tag_of_what_shows_it(service: Service, path: str) -> None:
    known, other = tag(service, path), tag(service, "/v1/nodes")
    assert service.call("PUT", "/v1/nodes/n/traits/CUSTOM_A").status == 204
    changed = service.call("GET", path, headers={"If-None-Match": f'W/{known}, "x"'})
    assert (changed.status, changed.headers["ETag"] == known) == (200, False)
    assert tag(service, "/v1/nodes") == other
    assert service.call("DELETE", "/v1/nodes/n/traits/CUSTOM_A").status == 204
    # It is again what it was.
    assert service.call("GET", path, headers={"If-None-Match": known}).status == 304


def test_each_choice_of_fields_has_its_own_tag(service: Service) -> None:
    choices = ("", "?fields=uuid", "?fields=name", "?fields=uuid,name", "?fields=extra")
    assert len({tag(service, f"/v1/nodes/n{choice}") for choice in choices}) == len(choices)
    assert len({tag(service, f"/v1/nodes{choice}") for choice in choices}) == len(choices)


def test_a_long_list_in_chunks_has_one_tag(service: Service) -> None:
    with service.store.writing():
        for _ in range(250):
            service.store.nodes.create({"driver": "fake-hardware", "provision_state": "enroll"})
    known = tag(service, "/v1/nodes")
    assert known == tag(service, "/v1/nodes")
    assert service.call("GET", "/v1/nodes", headers={"If-None-Match": known}).status == 304


def test_errors_and_changes_know_no_tags(service: Service) -> None:
    for method, path, body, status in (
        ("GET", "/v1/nodes/nobody", None, 404),
        ("GET", "/v1/nope", None, 404),
        ("POST", "/v1/nodes", {"driver": "fake-hardware"}, 201),
        ("PATCH", "/v1/nodes/n", PATCH, 200),
        ("OPTIONS", "/v1/nodes", None, 200),
    ):
        answer = service.call(method, path, body=body, headers={"If-None-Match": "*"})
        assert answer.status == status
        assert not answer.headers.keys() & {"ETag", "Vary"}


def test_head_has_the_tag_of_get(service: Service) -> None:
    head = service.call("HEAD", "/v1")
    assert (head.status, head.headers["ETag"]) == (200, tag(service, "/v1"))
    assert service.call("HEAD", "/v1", headers={"If-None-Match": head.headers["ETag"]}).status == 304


def test_a_very_long_document_has_no_tag_that_would_have_to_be_computed(service: Service) -> None:
    for _ in range(LONGEST_TAGGED // 200_000 + 1):
        service.store.nodes.create({"driver": "fake-hardware", "extra": {"a": "x" * 200_000}})
    answer = service.call("GET", "/v1/nodes/detail", headers={"If-None-Match": "*"})
    assert (answer.status, "ETag" in answer.headers) == (200, False)
    assert len(answer.body) > LONGEST_TAGGED
    assert tag(service, "/v1/nodes")

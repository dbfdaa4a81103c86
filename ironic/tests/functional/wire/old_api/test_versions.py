"""Versions 1.0 to 1.18 by a header of their own; documents of `/` and `/v1`; the shape of errors."""

import pytest

from ironic.tests.functional.wire.old_api.asking import HEADER, ask, refused
from ironic.tests.functional.wire.service import BASE, Service

MINIMUM = "X-OpenStack-Ironic-Inspector-API-Minimum-Version"
MAXIMUM = "X-OpenStack-Ironic-Inspector-API-Maximum-Version"


@pytest.mark.parametrize("minor", range(19))
@pytest.mark.parametrize("path", ["/", "/v1", "/v1/", "/v1/introspection", "/v1/rules"])
def test_every_version_is_served_and_named(service: Service, minor: int, path: str) -> None:
    response = ask(service, "GET", path, version=f"1.{minor}")
    assert response.status == 200
    assert response.headers[HEADER] == f"1.{minor}"
    assert (response.headers[MINIMUM], response.headers[MAXIMUM]) == ("1.0", "1.18")
    assert HEADER in response.headers["Vary"]


@pytest.mark.parametrize("version", [None, "latest", " 1.18 "])
def test_the_newest_version_is_the_default(service: Service, version: str | None) -> None:
    assert ask(service, "GET", "/v1/introspection", version=version).headers[HEADER] == "1.18"


def test_the_header_of_all_services_counts_too(service: Service) -> None:
    common = {"OpenStack-API-Version": "baremetal 1.90, baremetal-introspection 1.7"}
    assert ask(service, "GET", "/v1", version=None, headers=common).headers[HEADER] == "1.7"


@pytest.mark.parametrize("version", ["1.19", "2.0", "0.9", "1.999999999"])
@pytest.mark.parametrize("path", ["/", "/v1", "/v1/introspection", "/v1/no-such-path"])
def test_a_version_out_of_range_is_406_with_the_range(service: Service, version: str, path: str) -> None:
    response = ask(service, "GET", path, version=version)
    assert "1.0 to 1.18" in refused(response, 406)
    assert (response.headers[MINIMUM], response.headers[MAXIMUM]) == ("1.0", "1.18")


@pytest.mark.parametrize("version", ["", "1", "one.two", "1.-1", "1.1.1", "1" * 5000, "1.9999999999"])
def test_a_malformed_version_is_400(service: Service, version: str) -> None:
    assert HEADER in refused(ask(service, "GET", "/v1/introspection", version=version), 400)


def test_the_root_names_the_newest_version(service: Service) -> None:
    (version,) = ask(service, "GET", "/").json["versions"]
    assert version["id"] == "1.18"
    assert version["status"] == "CURRENT"
    assert version["links"] == [{"href": f"{BASE}/v1", "rel": "self"}]


def test_v1_names_the_resources(service: Service) -> None:
    found = {one["name"]: one["links"] for one in ask(service, "GET", "/v1").json["resources"]}
    assert found == {
        name: [{"href": f"{BASE}/v1/{name}", "rel": "self"}] for name in ("continue", "introspection", "rules")
    }


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v2", 404),
        ("GET", "/v1/nodes", 404),
        ("GET", "/v1/introspection/a/b/c", 404),
        ("PATCH", "/v1/introspection", 405),
        ("DELETE", "/v1/introspection/first", 405),
        ("GET", "/v1/continue", 405),
        ("GET", "/v1/introspection/first/abort", 405),
        ("GET", "/v1/introspection/first?fields=uuid", 400),
        ("GET", "/v1/introspection/\0", 400),
        ("GET", "/v1/introspection/not a name", 400),
    ],
)
def test_other_paths_and_methods_are_refused_in_the_old_shape(
    service: Service, method: str, path: str, status: int
) -> None:
    refused(ask(service, method, path), status)


def test_a_405_names_the_methods(service: Service) -> None:
    assert ask(service, "PATCH", "/v1/introspection").headers["Allow"] == "GET"


def test_head_of_a_path_without_it_has_no_body(service: Service) -> None:
    response = ask(service, "HEAD", "/v1/introspection")
    assert (response.status, response.body) == (405, b"")


def test_an_unchanged_document_is_not_sent_again(service: Service) -> None:
    tag = ask(service, "GET", "/v1").headers["ETag"]
    assert ask(service, "GET", "/v1", headers={"If-None-Match": tag}).status == 304

"""Links of documents, and whether a document is looked through for them."""

import json
from typing import Any

import pytest

from ironic.core.addresses.allowed_addresses import server_of
from ironic.drivers.modules.redfish.wire.own_links import may_have_urls, with_own_paths

OWN = server_of("http://bmc.example:8000")
PATH = "/redfish/v1/Systems/1"


def as_sent(document: Any) -> list[bytes]:
    """Return a document as BMCs write it."""
    plain = json.dumps(document)
    escaped = plain.replace("/", "\\/"), plain.replace("redfish", "\\u0072edfish")
    return [text.encode() for text in (plain, json.dumps(document, indent=2), *escaped)] + [plain.encode("utf-16")]


@pytest.mark.parametrize(
    "document",
    [
        {"@odata.id": PATH[1:]},
        {"@odata.id": f" {PATH}"},
        {"@odata.id": f"{PATH}\n"},
        {"@odata.id": f"http://bmc.example:8000{PATH}"},
        {"Members": [{"@odata.id": PATH}, {"@odata.id": f"HTTP://BMC.example:8000{PATH}"}]},
        {"Actions": {"#ComputerSystem.Reset": {"target": f"http://bmc.example:8000{PATH}"}}},
    ],
)
def test_a_document_with_links_that_are_no_paths_is_looked_through(document: dict[str, Any]) -> None:
    assert OWN is not None
    assert with_own_paths(document, OWN) != document
    assert all(map(may_have_urls, as_sent(document)))


@pytest.mark.parametrize("document", [{"@odata.id": PATH}, {"Copyright": "see https://vendor.example/terms"}, {}])
def test_a_document_of_paths_is_not_looked_through(document: dict[str, Any]) -> None:
    assert OWN is not None
    assert with_own_paths(document, OWN) == document
    assert not may_have_urls(json.dumps(document).encode())

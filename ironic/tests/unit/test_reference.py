"""The pages of the API's reference: complete, and what their examples show was really answered."""

import json
import re
from collections import Counter
from typing import Any

import pytest
import yaml

from ironic.api import version_negotiation
from ironic.api.openapi import document, operations
from ironic.api.resources import ROUTES
from ironic.tests.repository import ROOT, tool

REFERENCE = ROOT / "api-ref"
TOLD = yaml.safe_load((ROOT / "tools" / "reference.yaml").read_text())["pages"]


def test_every_request_is_on_one_page() -> None:
    pages = tool("reference_pages")
    told = Counter(path for page in TOLD.values() for path in pages.paths_of(page))
    assert told == Counter(document(ROUTES, version_negotiation.MAXIMUM, "/")["paths"].keys())


def test_the_fields_of_every_resource_are_on_one_page() -> None:
    told = Counter(name for page in TOLD.values() for name in page.get("resources", ()))
    assert told == Counter(operations.resources().keys())


@pytest.mark.parametrize("name", sorted(TOLD))
def test_every_name_of_the_openapi_document_is_on_the_page(name: str) -> None:
    newest = json.loads((REFERENCE / "openapi.json").read_text())
    rows = set(re.findall(r"^\| `(\w+)` \|", (REFERENCE / f"{name}.md").read_text(), re.MULTILINE))
    for path in tool("reference_pages").paths_of(TOLD[name]):
        for operation in newest["paths"][path].values():
            assert {one["name"] for one in operation["parameters"] if "name" in one} <= rows
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            assert body.get("properties", {}).keys() <= rows
    for resource in TOLD[name].get("resources", ()):
        shown = operations.resources()[resource].__name__
        for schema in (shown, f"{shown}Create"):
            assert newest["components"]["schemas"].get(schema, {}).get("properties", {}).keys() <= rows


def test_the_first_page_leads_to_all_others() -> None:
    named = set(re.findall(r"\]\((\S+\.md)\)", (REFERENCE / "README.md").read_text()))
    assert {path.name for path in REFERENCE.glob("*.md")} - {"README.md"} <= named


def _exchanges(name: str) -> list[tuple[str, Any]]:
    """Return the heads and the documents of a page's examples."""
    blocks = re.findall(r"```http\n(.*?)\n```", (REFERENCE / f"{name}.md").read_text(), re.DOTALL)
    parts = [block.partition("\n\n") for block in blocks]
    return [(head, json.loads(body) if body else None) for head, _, body in parts]


@pytest.mark.demand("S173")
def test_inspection_rules_are_documented_with_their_dry_run() -> None:
    page = (REFERENCE / "inspection-rules.md").read_text()
    for route in ROUTES:
        if "inspection_rules" in route.path and operations.is_shown(route, version_negotiation.MAXIMUM):
            assert f"`{route.method} {route.path}`" in page
    (_, tried), (verdict, explained) = _exchanges("inspection-rules")[:2]
    assert verdict == "HTTP/1.1 200"
    assert explained["rules"][0]["conditions"][0]["values"] == {"values": [64, 31]}
    assert explained["changes"]["node"] == [{"op": "add", "path": "/resource_class", "value": "large"}]
    assert tried["rules"][0]["conditions"][0]["op"] == "gt"
    for word in ("priority", "conditions", "actions", "sensitive", "scope", "phase"):
        assert f"\n| `{word}` | " in page


@pytest.mark.parametrize("name", sorted(TOLD))
def test_no_secret_and_no_time_of_ours_is_in_an_example(name: str) -> None:
    exchanges = _exchanges(name)
    answers = [json.dumps(body) for head, body in exchanges if head.startswith("HTTP/1.1")]
    assert answers, "every page shows an exchange"
    for answer in answers:
        assert "hunter2" not in answer
        assert set(re.findall(r"\d{4}-\d\d-\d\dT", answer)) <= {"2026-01-01T"}

"""What another service of this API answered, held against our OpenAPI document: old clients find what they knew.

The file has, by scenario, exchanges as [request, version, status, body] of a run with a reference release. What differs
from run to run was replaced by words in angle brackets; none stands where our document wants anything but text, except
those below.
"""

import json
import lzma
from typing import Any
from urllib.parse import parse_qsl

import pytest

from ironic.api import version_negotiation
from ironic.api.error_responses import VersionRefused
from ironic.tests.functional.wire import described
from ironic.tests.repository import ROOT

RECORDED: dict[str, list[tuple[str, str, int, Any]]] = json.loads(
    lzma.decompress((ROOT / "ironic" / "tests" / "data" / "recorded-exchanges.json.xz").read_bytes())
)
# Of an object nothing but that it is one; of others not even the kind.
OBJECT, ANYTHING = "<internal>", "<ignored>"
SOMETHING = "11111111-0000-4000-8000-000000000001"


def plain(value: Any) -> Any:
    """Put something of the right kind in place of what was replaced; leave out what may be of any kind."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if inner != ANYTHING}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return {} if value == OBJECT else value


def check(request: str, version: str, status: int, body: Any) -> bool:
    """Hold one exchange against the document of its version; return whether that has such requests."""
    asked = {} if version == "none" else {version_negotiation.REQUEST_HEADER: version}
    try:
        minor = version_negotiation.negotiate(asked)
    except VersionRefused:
        return False
    if isinstance(body, dict) and "next" in body and ANYTHING in body.values():
        # Only the link counted; the page itself was left out.
        return False
    method, _, path = request.partition(" ")
    for name in ("${", "<"):
        while name in path:
            before, _, rest = path.partition(name)
            path = before + SOMETHING + rest.partition("}" if name == "${" else ">")[2]
    if method == "GET" and status < 300:
        assert {name for name, _ in parse_qsl(path.partition("?")[2])} <= described.parameters(method, path, minor)
    return described.check(method, path, minor, status, plain(body))


@pytest.mark.parametrize("scenario", sorted(RECORDED))
def test_what_was_recorded_is_what_the_document_tells(scenario: str) -> None:
    checked = [check(*exchange) for exchange in RECORDED[scenario]]
    assert any(checked) or scenario.startswith(("discovery", "errors_routes"))


def test_nearly_everything_that_was_recorded_is_told_of() -> None:
    # The rest asks for versions or paths that there are not, or with methods that nothing takes.
    checked = [check(*exchange) for exchanges in RECORDED.values() for exchange in exchanges]
    assert len(checked) == 1720 and sum(checked) > 1600

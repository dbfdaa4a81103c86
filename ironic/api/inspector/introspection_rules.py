"""`/v1/rules`: rules in the dialect of the standalone inspector.

They are inspection rules like all others, which the bare metal API lists with their dialect; rules of the other dialect
have no document here, so they are left out and left alone. PUT is asked for by the blueprint of these rules (S174).
"""

from typing import Any, Final

from ironic.api import answers
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import UncheckedBody
from ironic.api.inspector import inspector_versions
from ironic.api.inspector.versions_document import links
from ironic.api.json_schema import OPEN, items
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors.resource_errors import InspectionRuleAlreadyExists
from ironic.inspection.rules import inspector_rules


def index(request: Request) -> Answer:
    """List the rules in the order of their creation, without conditions and actions."""
    found = inspector_rules.listed(request.store)
    return answers.document({"rules": [_linked(request, rule) for rule in found]})


def show(request: Request, rule: str) -> Answer:
    """Show a rule."""
    return answers.document(_linked(request, inspector_rules.show(request.store, rule)))


def create(request: Request, document: Any) -> Answer:
    """Create a rule."""
    uuid = document.get("uuid") if isinstance(document, dict) else None
    if uuid in [rule.compiled.uuid for rule in request.settings.rule_book.built_in]:
        raise InspectionRuleAlreadyExists(resource="inspection rule", field="uuid", value=uuid)
    made = _linked(request, inspector_rules.create(request.store, document))
    if inspector_versions.negotiate(request.environ) < inspector_versions.CREATED_SINCE:
        return answers.document(made)
    return answers.created(made, made["links"][0]["href"])


def replace(request: Request, rule: str, document: Any) -> Answer:
    """Replace a rule, which keeps its place in the order."""
    return answers.document(_linked(request, inspector_rules.replace(request.store, rule, document)))


def delete(request: Request, rule: str) -> Answer:
    """Delete a rule."""
    inspector_rules.delete(request.store, rule)
    return NO_CONTENT


def clear(request: Request) -> Answer:
    """Delete all rules of this dialect."""
    inspector_rules.clear(request.store)
    return NO_CONTENT


def _linked(request: Request, rule: dict[str, Any]) -> dict[str, Any]:
    return rule | {"links": links(request, f"rules/{rule['uuid']}")}


_ALL: Final = "/v1/rules"
_ONE: Final = f"{_ALL}/{{rule}}"
_DELETE: Final = "baremetal:inspection_rule:delete"

ROUTES = (
    Route(
        "GET", _ALL, index, rule="baremetal:inspection_rule:list_all", query=None, ok=200, answer=items("rules", OPEN)
    ),
    Route(
        "POST",
        _ALL,
        create,
        rule="baremetal:inspection_rule:create",
        body=UncheckedBody("document"),
        ok=201,
        also=(200,),
        answer=OPEN,
    ),
    Route("DELETE", _ALL, clear, rule=_DELETE, ok=204),
    Route("GET", _ONE, show, rule="baremetal:inspection_rule:get", ok=200, answer=OPEN),
    Route(
        "PUT",
        _ONE,
        replace,
        rule="baremetal:inspection_rule:update",
        body=UncheckedBody("document"),
        ok=200,
        answer=OPEN,
    ),
    Route("DELETE", _ONE, delete, rule=_DELETE, ok=204),
)

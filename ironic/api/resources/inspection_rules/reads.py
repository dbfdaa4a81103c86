"""Inspection rules: list and show. Those of the operator's file stand beside the stored ones."""

from ironic.api import answers, listing
from ironic.api.answers import Answer
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.resources.inspection_rules import rows
from ironic.api.routes import FAULT, Route
from ironic.core.model.inspection_rule import InspectionRule


def index(request: Request, page: Page) -> Answer:
    """List rules."""
    return listing.answer(request, InspectionRule, rows.of(request), page)


def show(request: Request, rule: str, view: Projection) -> Answer:
    """Show one rule."""
    return answers.document(view.document(request, rows.of(request).row(view.columns, rule)))


ROUTES = (
    Route(
        "GET",
        "/v1/inspection_rules",
        index,
        since=96,
        shape=FAULT,
        rule="baremetal:inspection_rule:list_all",
        of=List(InspectionRule),
    ),
    Route(
        "GET",
        "/v1/inspection_rules/{rule}",
        show,
        since=96,
        shape=FAULT,
        rule="baremetal:inspection_rule:get",
        of=One(InspectionRule),
    ),
)

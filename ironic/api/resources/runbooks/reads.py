"""Runbooks: steps under a name that operators let others run on the nodes they are for.

Rows and nothing more. What is done with one is `use`.
"""

from typing import Any

from ironic.api import access, answers, listing
from ironic.api.answers import Answer
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.model.runbook import Runbook


def index(request: Request, page: Page) -> Answer:
    """List the runbooks that the caller may see."""
    filters: dict[str, Any] = {}
    if (project := access.own_project(request, access.LIST_RUNBOOKS)) is not None:
        filters["visible_to"] = project
    if page.filters.get("project") and request.context.project_id is not None:
        filters["owner"] = request.context.project_id
    return listing.answer(request, Runbook, request.store.runbooks, page, filters)


def show(request: Request, runbook: str, view: Projection) -> Answer:
    """Show one runbook."""
    return answers.document(view.document(request, request.store.runbooks.row(view.columns, runbook)))


ROUTES = (
    Route("GET", "/v1/runbooks", index, since=92, rule=access.LIST_RUNBOOKS, of=List(Runbook)),
    Route("GET", "/v1/runbooks/{runbook}", show, since=92, rule="baremetal:runbook:get", of=One(Runbook)),
)

"""Deploy templates: steps that join a deployment whose instance asks for the trait they are named after.

Rows and nothing more; no conductor has a part in them. Source: doc/contract/fields.md#deploy-template and
doc/contract/requests.md#deploy-templates.
"""

from collections.abc import Sequence

from ironic.api import answers, computed, listing, step_lists
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.model.deploy_template import DeployTemplate

computed.bind(DeployTemplate, steps=step_lists.shown(lambda store: store.deploy_templates))


def index(request: Request, page: Page) -> Answer:
    """List deploy templates."""
    return listing.answer(request, DeployTemplate, request.store.deploy_templates, page)


def show(request: Request, template: str, view: Projection) -> Answer:
    """Show one deploy template."""
    return answers.document(view.document(request, request.store.deploy_templates.row(view.columns, template)))


def create(request: Request, values: dict[str, object]) -> Answer:
    """Add a deploy template."""
    values.pop("description", None)
    return step_lists.created(request, DeployTemplate, request.store.deploy_templates, values)


def patch(request: Request, template: str, changes: Sequence[Change]) -> Answer:
    """Change a deploy template."""
    return step_lists.changed(request, DeployTemplate, request.store.deploy_templates, template, changes)


def delete(request: Request, template: str) -> Answer:
    """Delete a deploy template."""
    request.store.deploy_templates.delete(template)
    return NO_CONTENT


_ALL, _ONE = "/v1/deploy_templates", "/v1/deploy_templates/{template}"

ROUTES = (
    Route("GET", _ALL, index, since=55, rule="baremetal:deploy_template:get", of=List(DeployTemplate)),
    Route(
        "POST", _ALL, create, since=55, below=405, rule="baremetal:deploy_template:create", of=Create(DeployTemplate)
    ),
    Route("PATCH", _ALL, step_lists.WHOLE, since=55, below=405),
    Route("DELETE", _ALL, step_lists.WHOLE, since=55, below=405),
    Route("GET", _ONE, show, since=55, rule="baremetal:deploy_template:get", of=One(DeployTemplate)),
    Route("POST", _ONE, step_lists.WHOLE, since=55, below=405),
    Route("PATCH", _ONE, patch, since=55, below=405, rule="baremetal:deploy_template:update", of=Patch(DeployTemplate)),
    Route(
        "DELETE", _ONE, delete, since=55, below=405, rule="baremetal:deploy_template:delete", of=Delete(DeployTemplate)
    ),
)

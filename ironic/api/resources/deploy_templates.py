"""`/v1/deploy_templates`: list, show, create, patch and delete deploy templates.

A deploy template adds its steps to a deployment whose instance requests the trait that the template is named after. It
is a row only; no conductor is involved. Source: doc/contract/fields.md#deploy-template and
doc/contract/requests.md#deploy-templates.
"""

from collections.abc import Sequence
from typing import Final

from ironic.api import answers, listing, projection, step_lists
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.model.step_lists import DeployTemplate

projection.bind_computed(DeployTemplate, steps=step_lists.shown_steps(lambda store: store.deploy_templates))


def index(request: Request, page: Page) -> Answer:
    """List deploy templates."""
    return listing.answer(request, DeployTemplate, request.store.deploy_templates, page)


def show(request: Request, template: str, view: Projection) -> Answer:
    """Show one deploy template."""
    return answers.document(view.document(request, request.store.deploy_templates.row(view.columns, template)))


def create(request: Request, values: dict[str, object]) -> Answer:
    """Create a deploy template."""
    values.pop("description", None)
    # A priority that was sent as text is stored as a number, but this answer shows the text, as clients know it.
    return step_lists.create_step_list(request, DeployTemplate, request.store.deploy_templates, values, echo=True)


def patch(request: Request, template: str, changes: Sequence[Change]) -> Answer:
    """Change a deploy template."""
    return step_lists.change_step_list(
        request, DeployTemplate, request.store.deploy_templates, template, changes, _UPDATE
    )


def delete(request: Request, template: str) -> Answer:
    """Delete a deploy template."""
    request.store.deploy_templates.delete(template)
    return NO_CONTENT


_ALL: Final = "/v1/deploy_templates"
_ONE: Final = "/v1/deploy_templates/{template}"
_GET: Final = "baremetal:deploy_template:get"
_CREATE: Final = "baremetal:deploy_template:create"
_UPDATE: Final = "baremetal:deploy_template:update"
_DELETE: Final = "baremetal:deploy_template:delete"

ROUTES = (
    Route("GET", _ALL, index, since=55, rule=_GET, of=List(DeployTemplate)),
    Route("POST", _ALL, create, since=55, below=405, rule=_CREATE, of=Create(DeployTemplate)),
    Route("PATCH", _ALL, step_lists.STEP_LIST_WHOLE, since=55, below=405),
    Route("DELETE", _ALL, step_lists.STEP_LIST_WHOLE, since=55, below=405),
    Route("GET", _ONE, show, since=55, rule=_GET, of=One(DeployTemplate)),
    Route("POST", _ONE, step_lists.STEP_LIST_WHOLE, since=55, below=405),
    Route("PATCH", _ONE, patch, since=55, below=405, rule=_UPDATE, of=Patch(DeployTemplate)),
    Route("DELETE", _ONE, delete, since=55, below=405, rule=_DELETE, of=Delete(DeployTemplate)),
)

"""`/v1/nodes/{node}/cleaning/steps`: the steps that automated cleaning of a node would run.

The serving conductor plans them, because the drivers and options of the conductor decide. Source: demand S59.
"""

from typing import Final

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.json_schema import OPEN, closed, list_of
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.model import fields
from ironic.core.secrets import masking

# A caller who may give a node steps may see the arguments of a runbook's steps.
_SET_STEPS: Final = "baremetal:node:set_provision_state:clean_steps"


def list_steps(request: Request, node: str) -> Answer:
    """List the steps in the order in which cleaning would run them, and how old the agent's steps are."""
    facts = named_nodes.node_values(request, node)
    plan = request.conductors.serving(facts).cleaning_steps(request.context, facts.uuid)
    steps = masking.masked(plan.get("steps", []))
    if not access.allows(request, _SET_STEPS, facts.owner, facts.lessee):
        steps = [fields.without_arguments(step) for step in steps]
    return answers.document(plan | {"steps": steps})


_PLAN: Final = closed({"steps": list_of(OPEN), "source": OPEN})

ROUTES = (
    Route(
        "GET",
        "/v1/nodes/{node}/cleaning/steps",
        list_steps,
        since=15,
        rule="baremetal:node:get",
        ok=200,
        answer=_PLAN,
    ),
)

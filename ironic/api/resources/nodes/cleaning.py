"""What automated cleaning of a node would run, before it runs (S59).

Source: demand S59; the conductor that serves the node makes the plan, because its drivers and options decide it.
"""

from typing import Final

from ironic.api import access, answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import OPEN, closed, list_of
from ironic.core import secrets
from ironic.core.model import views

# Who may give a node steps may see what those of a runbook are given.
_GIVES_STEPS: Final = "baremetal:node:set_provision_state:clean_steps"


def list_steps(request: Request, node: str) -> Answer:
    """List the steps in the order in which they would run, and how old the agent's part of them is."""
    facts = named_nodes.facts(request, node)
    told = request.conductors.serving(facts).cleaning_steps(request.context, facts.uuid)
    steps = secrets.masked(told.get("steps", []))
    if not access.allows(request, _GIVES_STEPS, facts.owner, facts.lessee):
        steps = [views.without_arguments(step) for step in steps]
    return answers.document(told | {"steps": steps})


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

"""What automated cleaning of a node would run, before it runs (S59).

Source: demand S59; the conductor that serves the node makes the plan, because its drivers and options decide it.
"""

from typing import Final

from ironic.api import answers, input
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.resources import node_serving
from ironic.api.routes import Route


def list_steps(request: Request, node: str) -> Answer:
    """List the steps in the order in which they would run, and how old the agent's part of them is."""
    input.query(request.query(), {})
    conductor, uuid = node_serving.conductor(request, node)
    return answers.document(conductor.cleaning_steps(request.context, uuid))


_STEPS: Final = "/v1/nodes/{node}/cleaning/steps"

ROUTES = (Route("GET", _STEPS, list_steps, since=15, rule="baremetal:node:get"),)

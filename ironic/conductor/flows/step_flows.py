"""The flows that a user sees on a node, by the states they wait and are held in."""

from typing import Final

from ironic.conductor.flows.cleaning import CLEAN
from ironic.conductor.flows.deploying import DEPLOY
from ironic.conductor.flows.flow import Flow
from ironic.conductor.flows.servicing import SERVICE
from ironic.core import states

STEP_FLOWS: Final = (CLEAN, DEPLOY, SERVICE)

WAITING_FLOWS: Final[dict[str, Flow]] = {flow.waiting: flow for flow in STEP_FLOWS if flow.waiting}

HELD_FLOWS: Final[dict[str, Flow]] = {
    states.CLEANHOLD: CLEAN,
    states.DEPLOYHOLD: DEPLOY,
    states.SERVICEHOLD: SERVICE,
}

"""What a conductor answers: every call of the conversation, by the function of its name in one of these modules.

A call of a new module is answered once the module stands here.
"""

from collections.abc import Callable
from typing import Final

from ironic.conductor import (
    allocations,
    consoles,
    deletion,
    heartbeats,
    management,
    portgroups,
    ports,
    provisioning,
    step_plans,
    validation,
    vendor_methods,
)
from ironic.conductor.answering import endpoint_of
from ironic.conductor.flows import inspecting, power, resuming
from ironic.conductor.tasks import Tasks
from ironic.rpc.conversation import ConductorCalls

_MODULES: Final = (
    allocations,
    consoles,
    deletion,
    heartbeats,
    inspecting,
    management,
    portgroups,
    ports,
    power,
    provisioning,
    resuming,
    step_plans,
    validation,
    vendor_methods,
)

Endpoint: Final[Callable[[Tasks], ConductorCalls]] = endpoint_of(ConductorCalls, _MODULES)

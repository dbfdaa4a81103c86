"""The RPC endpoint of a conductor: the modules whose functions carry out the calls of the RPC API.

The calls of a new module are answered once the module stands in the list.
"""

from collections.abc import Callable
from typing import Final

from ironic.conductor import (
    allocator,
    consoles,
    interface_validation,
    management,
    provisioning,
    record_changes,
    vendor_methods,
)
from ironic.conductor.flows import cleaning, inspecting, power_requests, wait_ends
from ironic.conductor.rpc_method import endpoint_of
from ironic.conductor.tasks import TaskFactory
from ironic.rpc.rpc_api import ConductorAPI

_MODULES: Final = (
    allocator,
    cleaning,
    consoles,
    inspecting,
    interface_validation,
    management,
    power_requests,
    provisioning,
    record_changes,
    wait_ends,
    vendor_methods,
)

Endpoint: Final[Callable[[TaskFactory], ConductorAPI]] = endpoint_of(ConductorAPI, _MODULES)

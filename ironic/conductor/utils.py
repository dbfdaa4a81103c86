"""A door for third-party plug-ins: what drivers ask of a conductor, under the path they import it from.

A power change stores the node before and after it. A flow that waits for a step is brought back, well or badly, with
the node locked.
"""

from ironic.conductor.flows.resuming import ended_badly as cleaning_error_handler
from ironic.conductor.flows.resuming import ended_badly as deploying_error_handler
from ironic.conductor.flows.resuming import ended_badly as servicing_error_handler
from ironic.conductor.flows.resuming import ended_well as notify_conductor_resume_clean
from ironic.conductor.flows.resuming import ended_well as notify_conductor_resume_deploy
from ironic.conductor.flows.resuming import ended_well as notify_conductor_resume_service
from ironic.conductor.management import boot_mode as node_get_boot_mode
from ironic.conductor.management import set_boot_device as node_set_boot_device
from ironic.conductor.management import set_boot_mode as node_set_boot_mode
from ironic.conductor.task import Task

node_power_action = Task.change_power

__all__ = [
    "cleaning_error_handler",
    "deploying_error_handler",
    "node_get_boot_mode",
    "node_power_action",
    "node_set_boot_device",
    "node_set_boot_mode",
    "notify_conductor_resume_clean",
    "notify_conductor_resume_deploy",
    "notify_conductor_resume_service",
    "servicing_error_handler",
]

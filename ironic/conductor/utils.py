"""For third-party plug-ins: what drivers call in a conductor, under the path they import it from.

A power change stores the node before and after it. The functions that continue or fail a waiting flow need the node
locked.
"""

from ironic.conductor.flows.wait_ends import continue_flow as notify_conductor_resume_clean
from ironic.conductor.flows.wait_ends import continue_flow as notify_conductor_resume_deploy
from ironic.conductor.flows.wait_ends import continue_flow as notify_conductor_resume_service
from ironic.conductor.flows.wait_ends import fail_polled_step as cleaning_error_handler
from ironic.conductor.flows.wait_ends import fail_polled_step as deploying_error_handler
from ironic.conductor.flows.wait_ends import fail_polled_step as servicing_error_handler
from ironic.conductor.management import boot_mode as node_get_boot_mode
from ironic.conductor.management import set_boot_device as node_set_boot_device
from ironic.conductor.management import set_boot_mode as node_set_boot_mode
from ironic.conductor.tasks import TaskManager

node_power_action = TaskManager.change_power

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

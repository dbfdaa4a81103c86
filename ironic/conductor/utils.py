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
from ironic.conductor.management import set_boot_mode as node_set_boot_mode
from ironic.conductor.plug_in_calls import add_history as node_history_record
from ironic.conductor.plug_in_calls import (
    add_secret_token,
    is_fast_track,
    wipe_token_and_url,
)
from ironic.conductor.plug_in_calls import change_secure_boot as node_change_secure_boot
from ironic.conductor.plug_in_calls import continue_operation as notify_conductor_resume_operation
from ironic.conductor.plug_in_calls import is_fast_track_possible as fast_track_able
from ironic.conductor.plug_in_calls import power_on_if_needed as power_on_node_if_needed
from ironic.conductor.plug_in_calls import restore_power_state as restore_power_state_if_needed
from ironic.conductor.plug_in_calls import set_boot_device as node_set_boot_device
from ironic.conductor.tasks import TaskManager

node_power_action = TaskManager.change_power

__all__ = [
    "add_secret_token",
    "cleaning_error_handler",
    "deploying_error_handler",
    "fast_track_able",
    "is_fast_track",
    "node_change_secure_boot",
    "node_get_boot_mode",
    "node_history_record",
    "node_power_action",
    "node_set_boot_device",
    "node_set_boot_mode",
    "notify_conductor_resume_clean",
    "notify_conductor_resume_deploy",
    "notify_conductor_resume_operation",
    "notify_conductor_resume_service",
    "power_on_node_if_needed",
    "restore_power_state_if_needed",
    "servicing_error_handler",
    "wipe_token_and_url",
]

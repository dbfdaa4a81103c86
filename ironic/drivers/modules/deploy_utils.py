"""A door for third-party plug-ins: small decisions about deployments, by node or task."""

from ironic.drivers.modules.agent.ramdisk_boot import service_url as get_ironic_api_url
from ironic.drivers.modules.ramdisk import boot_option as get_boot_option
from ironic.drivers.modules.ramdisk import is_deployed_by as is_ramdisk_deploy
from ironic.drivers.nodes.instance_capabilities import check_capabilities as validate_capabilities
from ironic.drivers.nodes.instance_capabilities import requests_secure_boot as is_secure_boot_requested
from ironic.drivers.plug_ins.deploying import (
    build_agent_options,
    check_for_missing_params,
    get_async_step_return_state,
    get_disk_label,
    get_single_nic_with_vif_port_id,
    is_iscsi_boot,
    prepare_agent_boot,
    reboot_to_finish_step,
    rescue_or_deploy_mode,
    set_async_step_flags,
    try_set_boot_device,
)

__all__ = [
    "build_agent_options",
    "check_for_missing_params",
    "get_async_step_return_state",
    "get_boot_option",
    "get_disk_label",
    "get_ironic_api_url",
    "get_single_nic_with_vif_port_id",
    "is_iscsi_boot",
    "is_ramdisk_deploy",
    "is_secure_boot_requested",
    "prepare_agent_boot",
    "reboot_to_finish_step",
    "rescue_or_deploy_mode",
    "set_async_step_flags",
    "try_set_boot_device",
    "validate_capabilities",
]

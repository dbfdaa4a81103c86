"""A door for third-party plug-ins: the system of a Redfish BMC, and what is beside it."""

from ironic.drivers.plug_ins.redfish_systems import (
    COMMON_PROPERTIES,
    get_chassis,
    get_event_service,
    get_manager,
    get_system,
    get_system_collection,
    get_task_monitor,
    get_update_service,
    parse_driver_info,
)

__all__ = [
    "COMMON_PROPERTIES",
    "get_chassis",
    "get_event_service",
    "get_manager",
    "get_system",
    "get_system_collection",
    "get_task_monitor",
    "get_update_service",
    "parse_driver_info",
]

"""A door for third-party plug-ins: the stored data of an inspection, and ports for addresses."""

from ironic.drivers.plug_ins.inspections import (
    CALLBACK_API_ENDPOINT,
    create_ports_if_not_exist,
    get_inspection_callback,
    get_inspection_data,
    store_inspection_data,
    validate_inspection_hooks,
)

__all__ = [
    "CALLBACK_API_ENDPOINT",
    "create_ports_if_not_exist",
    "get_inspection_callback",
    "get_inspection_data",
    "store_inspection_data",
    "validate_inspection_hooks",
]

"""A door for third-party plug-ins: helpers for commands, files and values; brings [DEFAULT]tempdir into the options."""

from ironic.api.origins import is_loopback
from ironic.core.plug_ins.plug_in_values import (
    find_devices_by_hints,
    get_updated_capabilities,
    is_hostname_safe,
    is_http_url,
    is_valid_logical_name,
    match_root_device_hints,
    normalize_mac,
    parse_instance_info_capabilities,
    parse_root_device_hints,
    pop_node_nested_field,
    safe_rstrip,
    set_node_nested_field,
    validate_and_normalize_mac,
    validate_network_port,
)
from ironic.integrations.plug_in_commands import dd, execute, file_mime_type, mkfs, try_execute
from ironic.integrations.plug_in_files import (
    check_dir,
    create_link_without_raise,
    render_template,
    rmtree_without_raise,
    tempdir,
    unlink_without_raise,
    write_to_file,
)
from ironic.integrations.plug_in_host import fast_track_enabled, get_route_source, is_fips_enabled, stop_after_retries

__all__ = [
    "check_dir",
    "create_link_without_raise",
    "dd",
    "execute",
    "fast_track_enabled",
    "file_mime_type",
    "find_devices_by_hints",
    "get_route_source",
    "get_updated_capabilities",
    "is_fips_enabled",
    "is_hostname_safe",
    "is_http_url",
    "is_loopback",
    "is_valid_logical_name",
    "match_root_device_hints",
    "mkfs",
    "normalize_mac",
    "parse_instance_info_capabilities",
    "parse_root_device_hints",
    "pop_node_nested_field",
    "render_template",
    "rmtree_without_raise",
    "safe_rstrip",
    "set_node_nested_field",
    "stop_after_retries",
    "tempdir",
    "try_execute",
    "unlink_without_raise",
    "validate_and_normalize_mac",
    "validate_network_port",
    "write_to_file",
]

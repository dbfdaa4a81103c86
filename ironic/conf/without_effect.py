"""Options of the reference and of its former releases that have no effect here, and what to do instead of each.

The start logs one line for each that a configuration sets, and one for a whole group whose feature is missing. A test
compares the reference's options with these tables and the registered options: each is in one of them. Delete an entry
here when its option or its feature is built.
"""

from collections.abc import Iterator, Mapping
from typing import Final

# Group -> feature that is missing, and what to do without it. None of its options is registered.
GROUPS: Final[Mapping[str, tuple[str, str]]] = {
    "anaconda": ("deployment by Anaconda", "deploy images by direct, or a ramdisk by ramdisk"),
    "ansible": ("deployment by Ansible playbooks", "deploy by direct and write the rest as deploy steps"),
    "cinder": ("volumes of Cinder", "machines need disks of their own"),
    "drac": ("hardware type idrac", "use hardware type redfish, which serves these machines"),
    "glance": ("images of Glance", "name images by http, https or file URLs"),
    "ilo": ("hardware types ilo and ilo5", "use hardware type redfish, which serves these machines"),
    "ironic_networking": ("switches configured by the networking service", "configure the switches by other means"),
    "ironic_networking_json_rpc": ("calls to the networking service", "configure the switches by other means"),
    "irmc": ("hardware type irmc", "use hardware type redfish, which serves these machines"),
    "mdns": (
        "announcing the API by multicast DNS",
        "name the API in the ramdisk's kernel parameters: ipa-api-url, which the service sets by itself where it boots "
        "the machine",
    ),
    "neutron": ("networks of Neutron", "give nodes network interface noop and keep machines apart at the switches"),
    "nova": ("notices of power changes to Nova", "Nova reads the power state at its own interval"),
    "oci": ("images of OCI registries", "name images by http, https or file URLs"),
    "oslo_reports": ("reports of the state of a process by a signal", "read the log"),
    "oslo_versionedobjects": ("texts of errors of oslo.versionedobjects", "remove the group"),
    "profiler": ("traces by OSProfiler", "use [metrics]"),
    "snmp": ("power by SNMP", "nothing replaces it here"),
}

_NO_GLANCE: Final = "there are no images of Glance; name images by http, https or file URLs"
_NO_NEUTRON: Final = "there are no networks of Neutron, so nothing waits for its agents; remove it"
_BY_TRAITS: Final = "there are no networks chosen by traits; remove it"
_LIBRARY_RETRY: Final = (
    "a transaction that meets a lost connection or a deadlock is repeated by the service itself; remove it"
)
_PROTECTS: Final = "a check that protects this host or its machines can't be switched off; remove it"
_NO_ASYNCIO: Final = "the service makes no such connections to the database; remove it"
_BY_TASK: Final = (
    "an update is followed by its task at the BMC, for at most [redfish]firmware_update_overall_timeout; remove it"
)

# Stands for all other options of a group.
OTHERS: Final = "*"

# Group -> option -> why it has no effect, and what to do.
OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "DEFAULT": {
        "allow_image_access_via_auth_token": _NO_GLANCE,
        "ignore_project_check_for_admin_tasks": _NO_GLANCE,
        "network_provider": "it has no meaning since drivers have network interfaces; remove it",
        "parallel_image_downloads": "image_download_concurrency limits how many images are downloaded at once; 1 is "
        "one by one",
        "pecan_debug": "debug_tracebacks_in_api shows the tracebacks of errors",
        "raw_image_growth_factor": "a conversion reserves the size that the image says of itself; remove it",
        "use_rpc_for_database": "every process connects to the database itself; remove it",
        "webserver_verify_timeout": "webserver_connection_timeout holds for every call to a web server with images",
    },
    "agent": {
        "manage_agent_boot": "the service boots every ramdisk itself; [deploy]fast_track goes on with one that runs",
        "memory_consumed_by_agent": "the size of an image is not compared with the memory of the machine; "
        "[agent]stream_raw_images writes an image without storing it there",
        "neutron_agent_max_attempts": _NO_NEUTRON,
        "neutron_agent_poll_interval": _NO_NEUTRON,
        "neutron_agent_status_retry_interval": _NO_NEUTRON,
    },
    "api": {
        "network_data_schema": "network data are checked by the published form; remove it",
    },
    "conductor": {
        "check_rescue_state_interval": "[conductor]check_provision_state_interval holds for rescues as well",
        "clear_image_cache_on_deploy_failure": "each use of a cached image asks its server for changes; remove it",
        "disable_file_checksum": _PROTECTS,
        "disable_kernel_parameter_parsing": _PROTECTS,
        "disable_metadata_mtu_check": "the MTU of network data is not compared with anything; remove it",
        "disable_zstandard_decompression": "the conductor decompresses no image; remove it",
        "enable_mdns": "the API is not announced by multicast DNS; name it in the ramdisk's kernel parameters "
        "(ipa-api-url)",
        "enable_trait_based_networking": _BY_TRAITS,
        "inspect_timeout": "the option is [conductor]inspect_wait_timeout",
        "sync_local_state_interval": "a conductor looks at its own intervals for nodes that it took over; remove it",
        "trait_based_networking_config_file": _BY_TRAITS,
        "trait_based_networking_enable_default_trait": _BY_TRAITS,
        "trait_based_networking_raise_when_no_match": _BY_TRAITS,
    },
    "database": {
        "asyncio_connection": _NO_ASYNCIO,
        "asyncio_slave_connection": _NO_ASYNCIO,
        "backend": "[database]connection names the database",
        "connection_trace": "[database]connection_debug logs the statements",
        "db_inc_retry_interval": _LIBRARY_RETRY,
        "db_max_retries": _LIBRARY_RETRY,
        "db_max_retry_interval": _LIBRARY_RETRY,
        "db_retry_interval": _LIBRARY_RETRY,
        "mysql_engine": "tables are made for InnoDB; remove it",
        "slave_connection": "everything is read from [database]connection; remove it",
        "sqlite_synchronous": "every commit is on the disk before a request is answered; remove it",
        "synchronous_reader": "everything is read from [database]connection; remove it",
        "use_db_reconnect": _LIBRARY_RETRY,
    },
    "dnsmasq": {
        "dhcp_leasefile": "addresses of machines are not read from leases; remove it",
    },
    "errors": {
        "fatal_exception_format_errors": "it is for tests of the reference; remove it",
    },
    "ironic_lib": {
        "fatal_exception_format_errors": "it is for tests of the reference; remove it",
    },
    "json_rpc": {
        **dict.fromkeys(
            ("connect_retries", "connect_retry_delay", "status_code_retries", "status_code_retry_delay"),
            "a call that was not begun goes to the next conductor, and no other call is repeated; remove it",
        ),
        **dict.fromkeys(
            (
                "endpoint_override",
                "interface",
                "max_version",
                "min_version",
                "region_name",
                "retriable_status_codes",
                "service_name",
                "service_type",
                "valid_interfaces",
                "version",
            ),
            "a conductor is called at the address that is its name; remove it",
        ),
    },
    "keystone_authtoken": {
        **dict.fromkeys(
            ("admin_user", "admin_password", "admin_tenant_name", "admin_token"),
            "credentials are auth_type, auth_url, username, password and project_name of [keystone_authtoken]",
        ),
        **dict.fromkeys(
            ("auth_host", "auth_port", "auth_protocol", "auth_uri", "identity_uri"),
            "use www_authenticate_uri and auth_url of [keystone_authtoken]",
        ),
    },
    "oslo_middleware": {
        "max_request_body_size": "[api]max_json_body_size and its siblings limit the bodies of requests",
    },
    "pxe": {
        "boot_retry_check_interval": "[pxe]boot_retry_timeout is checked once a minute",
        "enable_insecure_template_override": "nodes can't name templates of their own; use the options of [pxe]",
        "ip_version": "the addresses in [pxe]tftp_server and [deploy]http_url decide",
        "ipxe_enabled": "the boot interface of a node decides: ipxe or pxe",
        "ipxe_use_swift": "kernels and ramdisks come from this host; remove it",
    },
    "redfish": {
        "firmware_update_bmc_timeout": _BY_TASK,
        "firmware_update_bmc_version_check_interval": _BY_TASK,
        "firmware_update_fail_interval": _BY_TASK,
        "firmware_update_wait_unresponsive_bmc": _BY_TASK,
        "raid_config_fail_interval": "[redfish]raid_config_status_interval holds for what failed as well",
    },
    "service_catalog": {
        OTHERS: "the catalog is not searched; name the URL in [service_catalog]endpoint_override",
    },
    "ssl": dict.fromkeys(
        ("ca_file", "ciphers", "version"),
        "use [api]server_tls_minimum_version and [api]server_tls_ciphers; clients are not asked for certificates",
    ),
}


# Options of [DEFAULT] that only others use, which refer to them by a dollar sign -> what to do where none does.
REFERRED_TO: Final[Mapping[str, str]] = {
    "bindir": "no other option refers to $bindir, and programs are found by PATH; remove it",
    "my_ipv6": "no other option refers to $my_ipv6; write the address, or that name, into [pxe]tftp_server, "
    "[deploy]http_url and [service_catalog]endpoint_override",
}


def instead(group: str, option: str) -> str | None:
    """Return what to do in place of an option; None if it is in no table."""
    if (feature := GROUPS.get(group)) is not None:
        return f"this release has no {feature[0]}: {feature[1]}"
    options = OPTIONS.get(group, {})
    return options.get(option) or options.get(OTHERS)


def lines(unknown: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield a line per missing feature and a line per single option, for those of the tables."""
    for group, names in unknown.items():
        if group in GROUPS:
            yield f"[{group}]{', '.join(names)}: {instead(group, '')}"
        else:
            yield from (f"[{group}]{name}: {text}" for name in names if (text := instead(group, name)))

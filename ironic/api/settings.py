"""Settings of the API as plain values, including those that a look-up sends to ramdisks.

They are read from the configuration once, when the API is wired, and passed down, so that a test needs no global
switch. Options are those of doc/contract/options.md#names-and-defaults; sizes are bytes here and KiB there. Agents
depend on the shape of the document for ramdisks (doc/contract/agent.md#answer-of-a-look-up).
"""

import functools
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from oslo_config import cfg

from ironic.api.origins import Origins
from ironic.api.rate_limit import Guesses, TokenBuckets
from ironic.api.request_body import BodyMemory
from ironic.api.request_limits import RequestLimits
from ironic.conf import OPTIONS
from ironic.core.flows.flow import FLOWS
from ironic.core.refusal_log import RefusalLog
from ironic.inspection import inventory_storage
from ironic.inspection.discovery import Discovery
from ironic.inspection.inventory_storage import Backend, DatabaseBackend
from ironic.inspection.rules import RuleBook
from ironic.inspection.rules import load_built_in as load_rules

LOG = logging.getLogger(__name__)

# Refused reports of one address that are stored in a minute: a write that all others wait for.
_STORED_REFUSALS = 60


# Makes the value of a setting from the configuration.
Read = Callable[[cfg.ConfigOpts], Any]
_READ: Final = "read"


def _set_by(read: Read, unset: Callable[[], Any] | None = None) -> Any:
    """Return a field that options set; ``unset`` makes its value without a configuration, by default from theirs."""
    return field(default_factory=unset or (lambda: read(_defaults())), metadata={_READ: read})


def _values(of: type[Any], conf: cfg.ConfigOpts) -> dict[str, Any]:
    """Return the values of all fields that options set."""
    return {one.name: one.metadata[_READ](conf) for one in fields(of) if _READ in one.metadata}


@functools.cache
def _defaults() -> cfg.ConfigOpts:
    """Return a configuration in which nothing is set."""
    conf = cfg.ConfigOpts()
    for group, options in OPTIONS.items():
        conf.register_opts(options, group=None if group == "DEFAULT" else group)
    conf([], default_config_files=[], default_config_dirs=[], use_env=False)
    return conf


_METRICS: Final = ("backend", "prepend_host", "prepend_uuid", "prepend_host_reverse", "global_prefix")
_STATSD: Final = ("statsd_host", "statsd_port")
_CONTAINERS: Final = (
    *("allow_arbitrary_containers", "allowed_containers", "container_steps_file"),
    *("runner", "pull_options", "run_options"),
)


def _extra_keys(conf: cfg.ConfigOpts) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    # Keys like "instance_info.raid_level", by field.
    for key in conf.agent.extra_lookup_keys:
        name, _, inner = key.partition(".")
        found.setdefault(name, set()).add(inner)
    return {name: frozenset(keys) for name, keys in found.items()}


@dataclass(frozen=True, slots=True)
class RamdiskSettings:
    """Settings for ramdisks."""

    metrics: Mapping[str, Any] = _set_by(lambda conf: {name: conf.metrics[f"agent_{name}"] for name in _METRICS})
    metrics_statsd: Mapping[str, Any] = _set_by(
        lambda conf: {name: conf.metrics_statsd[f"agent_{name}"] for name in _STATSD}
    )
    agent_containers: Mapping[str, Any] = _set_by(
        lambda conf: {name: conf.agent_containers[name] for name in _CONTAINERS}
    )
    allow_md5_checksum: bool = _set_by(lambda conf: conf.agent.allow_md5_checksum)
    disable_deep_image_inspection: bool = _set_by(lambda conf: conf.conductor.disable_deep_image_inspection)
    permitted_image_formats: tuple[str, ...] = _set_by(lambda conf: tuple(conf.conductor.permitted_image_formats))
    enable_bios_bootloader_install: bool = _set_by(lambda conf: conf.agent.enable_bios_bootloader_install)
    # Parameters of the agent that projects may give.
    project_kernel_parameters: tuple[str, ...] = _set_by(lambda conf: tuple(conf.agent.project_kernel_parameters))
    tls_minimum_version: str = _set_by(lambda conf: conf.agent.tls_minimum_version)
    tls_ciphers: str | None = _set_by(lambda conf: conf.agent.tls_ciphers)
    # Security of the callbacks of agents.
    require_tls: bool = _set_by(lambda conf: conf.agent.require_tls)
    # "off", "warn" or "strict".
    callback_source: str = _set_by(lambda conf: conf.agent.callback_source)
    fast_track: bool = _set_by(lambda conf: conf.deploy.fast_track)
    fast_track_timeout: int = _set_by(lambda conf: conf.deploy.fast_track_timeout)
    # Further keys that look-ups show of a node's field, besides those that agents are known to read.
    extra_keys: Mapping[str, frozenset[str]] = _set_by(_extra_keys)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "RamdiskSettings":
        """Read the options."""
        return cls(**_values(cls, conf))

    def document(self, heartbeat_timeout: int) -> dict[str, Any]:
        """Return the part of a ramdisk's configuration that is the same for all nodes."""
        return {
            "metrics": dict(self.metrics),
            "metrics_statsd": dict(self.metrics_statsd),
            "heartbeat_timeout": heartbeat_timeout,
            "agent_containers": dict(self.agent_containers),
            "agent_token_required": True,
            "agent_md5_checksum_enable": self.allow_md5_checksum,
            "disable_deep_image_inspection": self.disable_deep_image_inspection,
            "permitted_image_formats": list(self.permitted_image_formats),
            "enable_bios_bootloader_install": self.enable_bios_bootloader_install,
            "tls_min_version": self.tls_minimum_version,
            "tls_cipher_suites": self.tls_ciphers,
        }


KIB = 1024
MIB = 1024 * KIB
STEP_KINDS = tuple(flow.name for flow in FLOWS if flow.list_verbs)


@functools.cache
def _rule_book(path: str | None) -> RuleBook:
    """Read the rules of a file once per process: reloaded options do not read them again (S114)."""
    return RuleBook(load_rules(path))


def _without_slash(endpoint: str | None) -> str | None:
    return endpoint and endpoint.rstrip("/")


def proxy_headers_count(conf: cfg.ConfigOpts) -> bool:
    """Return [oslo_middleware]enable_proxy_headers_parsing, which the library registers only when it is used."""
    group, name = "oslo_middleware", "enable_proxy_headers_parsing"
    return bool(conf[group][name]) if group in conf and name in conf[group] else False


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Settings of the API; a field says which options set it, and they have its default."""

    auth_strategy: str = _set_by(lambda conf: conf.auth_strategy, lambda: "noauth")
    # The users of http_basic.
    user_file: str = _set_by(lambda conf: conf.http_basic_auth_user_file, str)
    # The limit on wrong passwords of http_basic; None is unlimited.
    guesses: Guesses | None = _set_by(
        lambda conf: Guesses(most) if (most := conf.api.wrong_passwords_per_minute) else None
    )
    public_endpoint: str | None = _set_by(lambda conf: _without_slash(conf.api.public_endpoint))
    max_limit: int = _set_by(lambda conf: conf.api.max_limit)
    # Bytes of long text on a page of a list, beyond which it ends with a link to the next one.
    page_bytes: int = 16 * MIB
    max_body: int = _set_by(lambda conf: conf.api.max_json_body_size * KIB)
    max_body_provision: int = _set_by(lambda conf: conf.api.max_json_body_size_provision * KIB)
    max_body_inspection: int = _set_by(lambda conf: conf.api.max_json_body_size_inspection * KIB)
    max_depth: int = _set_by(lambda conf: conf.api.max_json_body_depth)
    # Number of values in a body.
    max_values: int = _set_by(lambda conf: conf.api.max_json_body_values)
    max_values_inspection: int = _set_by(lambda conf: conf.api.max_json_body_values_inspection)
    # Memory that the bodies of all requests share.
    body_memory: BodyMemory = _set_by(lambda conf: BodyMemory(conf.api.max_body_memory * MIB))
    max_patch_operations: int = 1000
    node_locked_attempts: int = _set_by(lambda conf: conf.conductor.node_locked_retry_attempts)
    node_locked_interval: float = _set_by(lambda conf: conf.conductor.node_locked_retry_interval)
    conductor_heartbeat_timeout: int = _set_by(lambda conf: conf.conductor.heartbeat_timeout)
    default_resource_class: str | None = _set_by(lambda conf: conf.default_resource_class)
    default_conductor_group: str = _set_by(lambda conf: conf.default_conductor_group.lower())
    default_portgroup_mode: str = _set_by(lambda conf: conf.default_portgroup_mode)
    disallowed_boot_modes: frozenset[str] = _set_by(lambda conf: frozenset(conf.api.disallowed_enrollment_boot_modes))
    # Steps like "vendor.send_raw" that requests may not contain, by kind of list ("clean", "deploy", "service").
    disallowed_steps: Mapping[str, frozenset[str]] = _set_by(
        lambda conf: {kind: frozenset(conf.api[f"disallow_{kind}_steps"]) for kind in STEP_KINDS}
    )
    allow_deleting_available_nodes: bool = _set_by(lambda conf: conf.conductor.allow_deleting_available_nodes)
    project_admin_can_manage_own_nodes: bool = _set_by(lambda conf: conf.api.project_admin_can_manage_own_nodes)
    trust_public_runbooks: bool = _set_by(lambda conf: conf.api.trust_public_runbooks)
    enable_ramdisk_endpoints: bool = _set_by(lambda conf: conf.api.enable_ramdisk_endpoints)
    restrict_lookup: bool = _set_by(lambda conf: conf.api.restrict_lookup)
    ramdisk_heartbeat_timeout: int = _set_by(lambda conf: conf.api.ramdisk_heartbeat_timeout)
    ramdisk: RamdiskSettings = _set_by(RamdiskSettings.from_conf)
    # The rate limit of inspection data per address; None is unlimited.
    report_limit: TokenBuckets | None = _set_by(
        lambda conf: TokenBuckets(most) if (most := conf.api.inspection_reports_per_minute) else None, lambda: None
    )
    request_limits: RequestLimits = _set_by(RequestLimits.from_conf, RequestLimits)
    # The log of refused requests, and how many refused reports of an address are stored.
    refusals: RefusalLog = field(default_factory=lambda: RefusalLog(LOG))
    stored_refusals: TokenBuckets = field(default_factory=lambda: TokenBuckets(_STORED_REFUSALS))
    # Bytes of a field that clients write as JSON; 0 is no limit but that of the body.
    largest_field: int = _set_by(lambda conf: conf.api.largest_json_field * KIB, int)
    # Nodes that a project may own when its users enroll more; 0 is any number.
    nodes_per_project: int = _set_by(lambda conf: conf.api.nodes_per_project)
    # The same of allocations and runbooks, and of ports, port groups and volumes of one node.
    rows_per_project: int = _set_by(lambda conf: conf.api.rows_per_project, int)
    parts_per_node: int = _set_by(lambda conf: conf.api.parts_per_node, int)
    # How many reports are processed at once: rules may call slow services for each.
    report_slots: threading.Semaphore = _set_by(lambda conf: threading.Semaphore(conf.api.inspection_report_threads))
    # Inspection rules; those of the operator's file are read and checked once.
    rule_book: RuleBook = _set_by(lambda conf: _rule_book(conf.inspection_rules.built_in), RuleBook)
    inventories: Backend = _set_by(lambda _: inventory_storage.backend_from_conf(), DatabaseBackend)
    # Discovery of unknown machines; None is off.
    discovery: Discovery | None = _set_by(Discovery.from_conf, lambda: None)
    rejected_callbacks_kept: int = _set_by(lambda conf: conf.inspector.rejected_callbacks_kept)
    proxy_headers: bool = _set_by(proxy_headers_count)
    origins: Origins = _set_by(Origins.from_conf, Origins)
    healthcheck: bool = _set_by(lambda conf: conf.healthcheck.enabled)
    # Names of middleware of other packages, the outermost last.
    middleware: tuple[str, ...] = _set_by(lambda conf: tuple(conf.api.middleware))
    # "error", "warn" or "ignore".
    response_validation: str = _set_by(lambda conf: conf.api.response_validation)
    debug_tracebacks: bool = _set_by(lambda conf: conf.debug_tracebacks_in_api)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "ApiSettings":
        """Read the options; ``conf`` is oslo.config's object with our options registered."""
        return cls(**_values(cls, conf))

    def for_inspector(self, conf: cfg.ConfigOpts) -> "ApiSettings":
        """Return these settings for the inspector's API: it has its own address and shares all limits."""
        return replace(
            self,
            public_endpoint=_without_slash(conf.inspector_api.public_endpoint),
            origins=Origins.from_conf(conf, "inspector_api"),
            # It is for paths and bodies of the bare metal API.
            middleware=(),
        )

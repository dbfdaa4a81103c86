"""Settings of the API as plain values, including those that a look-up sends to ramdisks.

They are read from the configuration once, when the API is wired, and passed down, so that a test needs no global
switch. Options are those of doc/contract/options.md#names-and-defaults; sizes are bytes here and KiB there. Agents
depend on the shape of the document for ramdisks (doc/contract/agent.md#answer-of-a-look-up).
"""

import functools
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from oslo_config import cfg

from ironic.api.origins import Origins
from ironic.api.rate_limit import Guesses, TokenBuckets
from ironic.api.request_body import BodyMemory
from ironic.api.request_limits import RequestLimits
from ironic.core.flow import FLOWS
from ironic.core.refusal_log import RefusalLog
from ironic.inspection import inventory_storage
from ironic.inspection.discovery import Discovery
from ironic.inspection.inventory_storage import Backend, DatabaseBackend
from ironic.inspection.rules import RuleBook
from ironic.inspection.rules import load_built_in as load_rules

LOG = logging.getLogger(__name__)

# Refused reports of one address that are stored in a minute: a write that all others wait for.
_STORED_REFUSALS = 60


def _metrics() -> dict[str, object]:
    return {
        "backend": "noop",
        "prepend_host": False,
        "prepend_uuid": False,
        "prepend_host_reverse": True,
        "global_prefix": None,
    }


def _statsd() -> dict[str, object]:
    return {"statsd_host": "localhost", "statsd_port": 8125}


def _containers() -> dict[str, object]:
    return {
        "allow_arbitrary_containers": False,
        "allowed_containers": [],
        "container_steps_file": "/etc/ironic-python-agent.d/mysteps.yaml",
        "runner": "podman",
        "pull_options": [],
        "run_options": ["--rm", "--network=host"],
    }


@dataclass(frozen=True, slots=True)
class RamdiskSettings:
    """Settings for ramdisks; the defaults are those of the options."""

    metrics: Mapping[str, Any] = field(default_factory=_metrics)
    metrics_statsd: Mapping[str, Any] = field(default_factory=_statsd)
    agent_containers: Mapping[str, Any] = field(default_factory=_containers)
    allow_md5_checksum: bool = True
    disable_deep_image_inspection: bool = False
    permitted_image_formats: tuple[str, ...] = ("raw", "gpt", "qcow2", "iso")
    enable_bios_bootloader_install: bool = False
    # Parameters of the agent that projects may give.
    project_kernel_parameters: tuple[str, ...] = ()
    tls_minimum_version: str = "1.3"
    tls_ciphers: str | None = None
    # Security of the callbacks of agents.
    require_tls: bool = True
    # "off", "warn" or "strict".
    callback_source: str = "warn"
    fast_track: bool = False
    fast_track_timeout: int = 300
    # Further keys that look-ups show of a node's field, besides those that agents are known to read.
    extra_keys: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "RamdiskSettings":
        """Read the options."""
        extra_keys: dict[str, set[str]] = {}
        # Keys like "instance_info.raid_level", by field.
        for key in conf.agent.extra_lookup_keys:
            name, _, inner = key.partition(".")
            extra_keys.setdefault(name, set()).add(inner)
        return cls(
            metrics={name: conf.metrics[f"agent_{name}"] for name in _metrics()},
            metrics_statsd={name: conf.metrics_statsd[f"agent_{name}"] for name in _statsd()},
            agent_containers={name: conf.agent_containers[name] for name in _containers()},
            allow_md5_checksum=conf.agent.allow_md5_checksum,
            disable_deep_image_inspection=conf.conductor.disable_deep_image_inspection,
            permitted_image_formats=tuple(conf.conductor.permitted_image_formats),
            enable_bios_bootloader_install=conf.agent.enable_bios_bootloader_install,
            project_kernel_parameters=tuple(conf.agent.project_kernel_parameters),
            tls_minimum_version=conf.agent.tls_minimum_version,
            tls_ciphers=conf.agent.tls_ciphers,
            require_tls=conf.agent.require_tls,
            callback_source=conf.agent.callback_source,
            fast_track=conf.deploy.fast_track,
            fast_track_timeout=conf.deploy.fast_track_timeout,
            extra_keys={name: frozenset(keys) for name, keys in extra_keys.items()},
        )

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


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Settings of the API; the defaults are those of the options."""

    auth_strategy: str = "noauth"
    # The users of http_basic.
    user_file: str = ""
    # The limit on wrong passwords of http_basic; None is unlimited.
    guesses: Guesses | None = field(default_factory=lambda: Guesses(10))
    public_endpoint: str | None = None
    max_limit: int = 1000
    # Bytes of long text on a page of a list, beyond which it ends with a link to the next one.
    page_bytes: int = 16 * MIB
    max_body: int = 1024 * KIB
    max_body_provision: int = 65536 * KIB
    max_body_inspection: int = 16384 * KIB
    max_depth: int = 25
    # Number of values in a body.
    max_values: int = 100_000
    max_values_inspection: int = 250_000
    # Memory that the bodies of all requests share.
    body_memory: BodyMemory = field(default_factory=lambda: BodyMemory(192 * MIB))
    max_patch_operations: int = 1000
    node_locked_attempts: int = 3
    node_locked_interval: float = 1.0
    conductor_heartbeat_timeout: int = 60
    default_resource_class: str | None = None
    default_conductor_group: str = ""
    default_portgroup_mode: str = "active-backup"
    disallowed_boot_modes: frozenset[str] = frozenset()
    # Steps like "vendor.send_raw" that requests may not contain, by kind of list ("clean", "deploy", "service").
    disallowed_steps: Mapping[str, frozenset[str]] = field(
        default_factory=lambda: dict.fromkeys(STEP_KINDS, frozenset({"vendor.send_raw"}))
    )
    allow_deleting_available_nodes: bool = True
    project_admin_can_manage_own_nodes: bool = True
    trust_public_runbooks: bool = False
    enable_ramdisk_endpoints: bool = True
    restrict_lookup: bool = True
    ramdisk_heartbeat_timeout: int = 300
    ramdisk: RamdiskSettings = field(default_factory=RamdiskSettings)
    # The rate limit of inspection data per address; None is unlimited.
    report_limit: TokenBuckets | None = None
    request_limits: RequestLimits = field(default_factory=RequestLimits)
    # The log of refused requests, and how many refused reports of an address are stored.
    refusals: RefusalLog = field(default_factory=lambda: RefusalLog(LOG))
    stored_refusals: TokenBuckets = field(default_factory=lambda: TokenBuckets(_STORED_REFUSALS))
    # Bytes of a field that clients write as JSON; 0 is no limit but that of the body.
    largest_field: int = 0
    # Nodes that a project may own when its users enroll more; 0 is any number.
    nodes_per_project: int = 0
    # The same of allocations and runbooks, and of ports, port groups and volumes of one node.
    rows_per_project: int = 0
    parts_per_node: int = 0
    # How many reports are processed at once: rules may call slow services for each.
    report_slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(8))
    # Inspection rules; those of the operator's file are read and checked once.
    rule_book: RuleBook = field(default_factory=RuleBook)
    inventories: Backend = field(default_factory=DatabaseBackend)
    # Discovery of unknown machines; None is off.
    discovery: Discovery | None = None
    rejected_callbacks_kept: int = 200
    proxy_headers: bool = False
    origins: Origins = field(default_factory=Origins)
    healthcheck: bool = False
    # Names of middleware of other packages, the outermost last.
    middleware: tuple[str, ...] = ()
    # "error", "warn" or "ignore".
    response_validation: str = "ignore"
    debug_tracebacks: bool = False

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "ApiSettings":
        """Read the options; ``conf`` is oslo.config's object with our options registered."""
        api = conf.api
        steps = {kind: frozenset(getattr(api, f"disallow_{kind}_steps")) for kind in STEP_KINDS}
        return cls(
            auth_strategy=conf.auth_strategy,
            user_file=conf.http_basic_auth_user_file,
            guesses=Guesses(most) if (most := conf.api.wrong_passwords_per_minute) else None,
            public_endpoint=api.public_endpoint and api.public_endpoint.rstrip("/"),
            max_limit=api.max_limit,
            max_body=api.max_json_body_size * KIB,
            max_body_provision=api.max_json_body_size_provision * KIB,
            max_body_inspection=api.max_json_body_size_inspection * KIB,
            max_depth=api.max_json_body_depth,
            max_values=api.max_json_body_values,
            max_values_inspection=api.max_json_body_values_inspection,
            body_memory=BodyMemory(api.max_body_memory * MIB),
            node_locked_attempts=conf.conductor.node_locked_retry_attempts,
            node_locked_interval=conf.conductor.node_locked_retry_interval,
            conductor_heartbeat_timeout=conf.conductor.heartbeat_timeout,
            default_resource_class=conf.default_resource_class,
            default_conductor_group=conf.default_conductor_group.lower(),
            default_portgroup_mode=conf.default_portgroup_mode,
            disallowed_boot_modes=frozenset(api.disallowed_enrollment_boot_modes),
            disallowed_steps=steps,
            allow_deleting_available_nodes=conf.conductor.allow_deleting_available_nodes,
            project_admin_can_manage_own_nodes=api.project_admin_can_manage_own_nodes,
            trust_public_runbooks=api.trust_public_runbooks,
            enable_ramdisk_endpoints=api.enable_ramdisk_endpoints,
            restrict_lookup=api.restrict_lookup,
            ramdisk_heartbeat_timeout=api.ramdisk_heartbeat_timeout,
            ramdisk=RamdiskSettings.from_conf(conf),
            report_limit=_rate_limit(api.inspection_reports_per_minute),
            request_limits=RequestLimits.from_conf(conf),
            largest_field=api.largest_json_field * KIB,
            nodes_per_project=api.nodes_per_project,
            rows_per_project=api.rows_per_project,
            parts_per_node=api.parts_per_node,
            report_slots=threading.Semaphore(api.inspection_report_threads),
            rule_book=_rule_book(conf.inspection_rules.built_in),
            inventories=inventory_storage.backend_from_conf(),
            discovery=Discovery.from_conf(conf),
            rejected_callbacks_kept=conf.inspector.rejected_callbacks_kept,
            proxy_headers=proxy_headers_count(conf),
            origins=Origins.from_conf(conf),
            healthcheck=conf.healthcheck.enabled,
            middleware=tuple(api.middleware),
            response_validation=api.response_validation,
            debug_tracebacks=conf.debug_tracebacks_in_api,
        )

    def for_inspector(self, conf: cfg.ConfigOpts) -> "ApiSettings":
        """Return these settings for the inspector's API: it has its own address and shares all limits."""
        endpoint = conf.inspector_api.public_endpoint
        return replace(
            self,
            public_endpoint=endpoint and endpoint.rstrip("/"),
            origins=Origins.from_conf(conf, "inspector_api"),
            # It is for paths and bodies of the bare metal API.
            middleware=(),
        )


@functools.cache
def _rule_book(path: str | None) -> RuleBook:
    """Read the rules of a file once per process: reloaded options do not read them again (S114)."""
    return RuleBook(load_rules(path))


def _rate_limit(per_minute: int) -> TokenBuckets | None:
    return TokenBuckets(per_minute) if per_minute else None


def proxy_headers_count(conf: cfg.ConfigOpts) -> bool:
    """Return [oslo_middleware]enable_proxy_headers_parsing, which the library registers only when it is used."""
    group, name = "oslo_middleware", "enable_proxy_headers_parsing"
    return bool(conf[group][name]) if group in conf and name in conf[group] else False

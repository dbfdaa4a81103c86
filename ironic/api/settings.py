"""What the API needs to know from the configuration, as plain values.

Read once at wiring time and handed down, so that a test needs no global switch. Options are those of
doc/contract/options.md#names-and-defaults; sizes are kept in bytes here and in KiB there.
"""

import functools
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from oslo_config import cfg

from ironic.api.body_memory import BodyMemory
from ironic.api.origins import Origins
from ironic.api.ramdisk_settings import RamdiskSettings
from ironic.api.rate_limit import RateLimit
from ironic.core.flow import FLOWS
from ironic.inspection import storage
from ironic.inspection.discovery import Discovery
from ironic.inspection.rules import RuleBook
from ironic.inspection.rules import load as load_rules
from ironic.inspection.storage import Backend, InDatabase

KIB = 1024
MIB = 1024 * KIB
STEP_KINDS = tuple(flow.name for flow in FLOWS if flow.list_verbs)


def _send_raw() -> dict[str, frozenset[str]]:
    return {kind: frozenset({"vendor.send_raw"}) for kind in STEP_KINDS}


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Values the API works by; the defaults are those of the options."""

    auth_strategy: str = "noauth"
    # Who may come in with http_basic.
    user_file: str = ""
    # How many wrong passwords an address may send for a name per minute; 0 is any number.
    wrong_passwords: int = 10
    public_endpoint: str | None = None
    max_limit: int = 1000
    max_body: int = 1024 * KIB
    max_body_provision: int = 65536 * KIB
    max_body_inspection: int = 16384 * KIB
    max_depth: int = 25
    # Values in a body, large and small.
    max_values: int = 100_000
    max_values_inspection: int = 250_000
    # What the bodies of all requests share.
    body_memory: BodyMemory = field(default_factory=lambda: BodyMemory(192 * MIB))
    max_patch_operations: int = 1000
    node_locked_attempts: int = 3
    node_locked_interval: float = 1.0
    conductor_heartbeat_timeout: int = 60
    default_resource_class: str | None = None
    default_conductor_group: str = ""
    default_portgroup_mode: str = "active-backup"
    disallowed_boot_modes: frozenset[str] = frozenset()
    # By kind of list ("clean", "deploy", "service"): names like "vendor.send_raw" that callers may not ask for.
    disallowed_steps: Mapping[str, frozenset[str]] = field(default_factory=_send_raw)
    allow_deleting_available_nodes: bool = True
    project_admin_can_manage_own_nodes: bool = True
    trust_public_runbooks: bool = False
    enable_ramdisk_endpoints: bool = True
    restrict_lookup: bool = True
    ramdisk_heartbeat_timeout: int = 300
    ramdisk: RamdiskSettings = field(default_factory=RamdiskSettings)
    # How often one address may look up, announce itself and report; None is as often as it likes.
    ramdisk_limit: RateLimit | None = None
    report_limit: RateLimit | None = None
    # One for each report that is worked on, as rules may call slow services for it.
    report_slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(8))
    # The rules of the operator's file are read and checked once, here.
    rule_book: RuleBook = field(default_factory=RuleBook)
    inventories: Backend = field(default_factory=InDatabase)
    # What is done with unknown machines; None is nothing.
    discovery: Discovery | None = None
    rejected_callbacks_kept: int = 200
    proxy_headers: bool = False
    origins: Origins = field(default_factory=Origins)
    healthcheck: bool = False
    debug_tracebacks: bool = False

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "ApiSettings":
        """Read the options; ``conf`` is oslo.config's object with our options registered."""
        api = conf.api
        steps = {kind: frozenset(getattr(api, f"disallow_{kind}_steps")) for kind in STEP_KINDS}
        return cls(
            auth_strategy=conf.auth_strategy,
            user_file=conf.http_basic_auth_user_file,
            wrong_passwords=conf.api.wrong_passwords_per_minute,
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
            ramdisk_limit=_rate_limit(api.ramdisk_calls_per_minute),
            report_limit=_rate_limit(api.inspection_reports_per_minute),
            report_slots=threading.Semaphore(api.inspection_report_threads),
            rule_book=_rule_book(conf.inspection_rules.built_in),
            inventories=storage.from_conf(),
            discovery=Discovery.from_conf(conf),
            rejected_callbacks_kept=conf.inspector.rejected_callbacks_kept,
            proxy_headers=_library_option(conf, "oslo_middleware", "enable_proxy_headers_parsing"),
            origins=Origins.from_conf(conf),
            healthcheck=_library_option(conf, "healthcheck", "enabled"),
            debug_tracebacks=conf.debug_tracebacks_in_api,
        )


@functools.cache
def _rule_book(path: str | None) -> RuleBook:
    """Read the built-in rules once: new options on the way are no reason to read them again (S114)."""
    return RuleBook(load_rules(path))


def _rate_limit(per_minute: int) -> RateLimit | None:
    return RateLimit(per_minute) if per_minute else None


def _library_option(conf: cfg.ConfigOpts, group: str, name: str) -> bool:
    """Read an option that a library registers only once it is used."""
    return bool(conf[group][name]) if group in conf and name in conf[group] else False

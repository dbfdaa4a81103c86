"""What a ramdisk is told of the configuration when it looks up its node, and how strictly it is met.

Plain values, read once at wiring time. The document's shape is known to agents
(doc/contract/agent.md#what-a-look-up-tells).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from oslo_config import cfg


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
    """Values for ramdisks; the defaults are those of the options."""

    metrics: Mapping[str, Any] = field(default_factory=_metrics)
    metrics_statsd: Mapping[str, Any] = field(default_factory=_statsd)
    agent_containers: Mapping[str, Any] = field(default_factory=_containers)
    allow_md5_checksum: bool = True
    disable_deep_image_inspection: bool = False
    permitted_image_formats: tuple[str, ...] = ("raw", "gpt", "qcow2", "iso")
    enable_bios_bootloader_install: bool = False
    tls_minimum_version: str = "1.3"
    tls_ciphers: str | None = None
    # How strictly agents are met.
    require_tls: bool = True
    # "off", "warn" or "strict".
    callback_source: str = "warn"
    fast_track: bool = False
    fast_track_timeout: int = 300
    # Keys that look-ups show besides those that agents are known to read, by the node's field.
    extra_keys: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "RamdiskSettings":
        """Read the options."""
        return cls(
            metrics={name: conf.metrics[f"agent_{name}"] for name in _metrics()},
            metrics_statsd={name: conf.metrics_statsd[f"agent_{name}"] for name in _statsd()},
            agent_containers={name: conf.agent_containers[name] for name in _containers()},
            allow_md5_checksum=conf.agent.allow_md5_checksum,
            disable_deep_image_inspection=conf.conductor.disable_deep_image_inspection,
            permitted_image_formats=tuple(conf.conductor.permitted_image_formats),
            enable_bios_bootloader_install=conf.agent.enable_bios_bootloader_install,
            tls_minimum_version=conf.agent.tls_minimum_version,
            tls_ciphers=conf.agent.tls_ciphers,
            require_tls=conf.agent.require_tls,
            callback_source=conf.agent.callback_source,
            fast_track=conf.deploy.fast_track,
            fast_track_timeout=conf.deploy.fast_track_timeout,
            extra_keys=_by_field(conf.agent.extra_lookup_keys),
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


def _by_field(keys: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Sort keys like "instance_info.raid_level" by the field in which they are."""
    pairs = [key.partition(".") for key in keys]
    return {name: frozenset(key for field, _, key in pairs if field == name) for name, _, _ in pairs}

"""What a node stores about its agent in driver_internal_info, and when fast track applies.

The only owner of the agent's keys there, which clients, drivers and the agent itself know: the callback URL, the last
heartbeat, the token, the steps that the agent offers. A token is void once the machine was switched off or the
operation is over, so it is dropped then; a token built into an image (pregenerated) survives a restart of the machine.
Fast track continues with a ramdisk that still runs instead of booting it again.
Sources: doc/contract/steps.md#progress, doc/contract/agent.md#look-up, doc/contract/agent.md#fast-track.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from ironic.core import states, syntax
from ironic.core.syntax import plain_text

_URL: Final = "agent_url"
_TOKEN: Final = "agent_secret_token"
_PREGENERATED: Final = "agent_secret_token_pregenerated"
# The address that got the token; only with a token, and only where no unknown proxy was in between.
_TOKEN_SOURCE: Final = "agent_looked_up_from"
_CERTIFICATE: Final = "agent_verify_ca"
_LAST_HEARTBEAT: Final = "agent_last_heartbeat"
_VERSIONS: Final = "hardware_manager_version"
# The time at which the conductor has changed the power of the machine, and so ended or started the agent.
POWER_CHANGED: Final = "last_power_state_change"

# Field of a heartbeat -> key it is stored under.
_STORED: Final = {
    "callback_url": _URL,
    "agent_version": "agent_version",
    "agent_verify_ca": _CERTIFICATE,
    "agent_status": "agent_status",
    "agent_status_message": "agent_status_message",
}
# Free text of the agent.
_FREE_TEXT: Final = ("agent_version", "agent_status_message")

# The fields of a heartbeat, as deploy interfaces take them.
HEARTBEAT: Final = tuple(_STORED)

# How disks are erased: the keys that the agent reads from its node -> options of [deploy]. Several keys of the agent
# are one option today.
_ERASURE: Final[Mapping[str, str]] = {
    "agent_erase_devices_iterations": "shred_random_overwrite_iterations",
    "agent_erase_devices_zeroize": "shred_final_overwrite_with_zeros",
    "agent_continue_if_secure_erase_failed": "continue_if_disk_secure_erase_fails",
    "agent_continue_if_ata_erase_failed": "continue_if_disk_secure_erase_fails",
    "agent_enable_nvme_secure_erase": "enable_nvme_secure_erase",
    "agent_enable_ata_secure_erase": "enable_ata_secure_erase",
    "disk_erasure_concurrency": "disk_erasure_concurrency",
    "agent_erase_skip_read_only": "erase_skip_read_only",
}

# The keys of driver_internal_info that the released agent was observed to read before it gets commands, which carry
# the node; some are erasure settings that it reads from any node it gets.
READ_BY_AGENTS: Final = frozenset(
    {*_ERASURE, _URL, _TOKEN, "agent_enable_discard_erase", "deploy_boot_mode", "wipe_special_filesystems"}
)

Steps = dict[str, list[dict[str, object]]]


class Record(Protocol):
    """The part of a node record that is used here."""

    @property
    def driver_internal_info(self) -> Any: ...

    def now(self) -> datetime: ...

    def set_driver_internal_info(self, key: str, value: Any) -> Any: ...

    def del_driver_internal_info(self, key: str) -> Any: ...


class KnownAgent:
    """Read-only view of the agent in a node's driver_internal_info."""

    __slots__ = ("_info",)

    def __init__(self, info: Mapping[str, Any]) -> None:
        self._info = info

    @property
    def url(self) -> str | None:
        """The callback URL of the agent; None until its first heartbeat after the start of the machine."""
        return self._info.get(_URL)

    @property
    def is_known(self) -> bool:
        """Return whether an agent has sent a heartbeat since the machine was started for it."""
        return bool(self.url)

    @property
    def token(self) -> str | None:
        """The token that the agent presents, and that is presented to it when it is called."""
        return self._info.get(_TOKEN)

    @property
    def token_source(self) -> str | None:
        """The address that got the token, if it is certain."""
        return self._info.get(_TOKEN_SOURCE)

    @property
    def certificate(self) -> Any:
        """The certificate that the agent sent; older releases may have stored any value."""
        return self._info.get(_CERTIFICATE)

    @property
    def last_heartbeat(self) -> datetime | None:
        """The time of the last heartbeat, UTC without time zone; None if there was none."""
        return syntax.moment_of(self._info.get(_LAST_HEARTBEAT))

    @property
    def power_changed_at(self) -> datetime | None:
        """The time of the last power change that was ordered, UTC without time zone; None if there was none."""
        return syntax.moment_of(self._info.get(POWER_CHANGED))

    def has_recent_heartbeat(self, now: datetime, limit: float) -> bool:
        """Return whether a heartbeat came in the last ``limit`` seconds; ``now`` is UTC without time zone."""
        came = self.last_heartbeat
        return came is not None and now - came <= timedelta(seconds=limit)

    def steps(self, flow: str) -> Steps:
        """Return the steps of the agent for a flow, by interface; empty until they are fetched."""
        return self._info.get(_steps_key(flow)) or {}

    def steps_refreshed_at(self, flow: str) -> str | None:
        """Return the time at which the steps were fetched, ISO 8601."""
        return self._info.get(_refreshed_key(flow))

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the hardware managers that offered the steps; sent back to the agent with every step."""
        return self._info.get(_VERSIONS) or {}


class AgentMemory(KnownAgent):
    """The agent in the driver_internal_info of a node record, with changes; the caller saves the node."""

    __slots__ = ("_node",)

    def __init__(self, node: Record) -> None:
        super().__init__(node.driver_internal_info)
        self._node = node

    def record(self, beat: Mapping[str, Any]) -> None:
        """Store the fields of a heartbeat and its time."""
        for field, key in _STORED.items():
            if (said := beat.get(field)) is not None:
                self._node.set_driver_internal_info(key, plain_text(said) if field in _FREE_TEXT else said)
        self.record_contact(self._node.now())

    def record_contact(self, now: datetime) -> None:
        """Store the time of a contact with the ramdisk; ``now`` is UTC without time zone."""
        self._node.set_driver_internal_info(_LAST_HEARTBEAT, now.isoformat())

    def store_token(self, token: str, source: str | None) -> None:
        """Store the token issued to a ramdisk, and its address if that is certain."""
        self._node.set_driver_internal_info(_TOKEN, token)
        if source:
            self._node.set_driver_internal_info(_TOKEN_SOURCE, source)
        else:
            self._drop(_TOKEN_SOURCE)

    def store_built_in_token(self, token: str) -> None:
        """Store a token that is built into the image which the machine boots; no look-up is issued another one."""
        self.store_token(token, None)
        self._node.set_driver_internal_info(_PREGENERATED, True)

    def drop_token(self) -> None:
        """Drop a token that did not reach a ramdisk."""
        self._drop(_TOKEN, _TOKEN_SOURCE)

    def allow_new_lookup(self, now: datetime) -> None:
        """Replace a silent ramdisk by another one, which looks the node up now; ``now`` is UTC without time zone.

        The new ramdisk has the usual time until its first heartbeat.
        """
        self._drop(_TOKEN, _URL)
        self.record_contact(now)

    def forget(self) -> None:
        """Drop the agent: its operation is over, or a new one begins."""
        self._drop(_URL, _CERTIFICATE, _TOKEN, _TOKEN_SOURCE, _PREGENERATED)

    def forget_on_restart(self) -> None:
        """Drop the agent, which ends with the machine; a token built into its image stays valid."""
        self._drop(_URL, _TOKEN_SOURCE)
        if not self._info.get(_PREGENERATED):
            self._drop(_TOKEN)

    def store_steps(self, flow: str, by_manager: Mapping[str, Iterable[Mapping[str, Any]]], versions: Any) -> None:
        """Store the steps that an agent offers, by hardware manager, and the versions of those."""
        by_interface: Steps = {}
        for steps in by_manager.values():
            for step in steps:
                by_interface.setdefault(str(step["interface"]), []).append(dict(step))
        self._node.set_driver_internal_info(_steps_key(flow), by_interface)
        self._node.set_driver_internal_info(_refreshed_key(flow), self._node.now().isoformat())
        self._node.set_driver_internal_info(_VERSIONS, dict(versions or {}))

    def set_erasure_options(self, options: Mapping[str, Any]) -> None:
        """Store the options of [deploy] about erasing disks in the keys that the agent reads."""
        for key, option in _ERASURE.items():
            self._node.set_driver_internal_info(key, options[option])

    def _drop(self, *keys: str) -> None:
        for key in keys:
            self._node.del_driver_internal_info(key)


def _steps_key(flow: str) -> str:
    return f"agent_cached_{flow}_steps"


def _refreshed_key(flow: str) -> str:
    return f"{_steps_key(flow)}_refreshed"


# States in which a ramdisk may be idle.
FAST_TRACK_IDLE: Final = frozenset({states.ENROLL, states.MANAGEABLE, states.AVAILABLE})
# States in which an idle ramdisk may look up its node, besides the states that allow a look-up anyway.
FAST_TRACK_LOOKUP_ALLOWED: Final = FAST_TRACK_IDLE | {states.SERVICING, states.SERVICEHOLD}

# For machines that only their ramdisk can restart: an operation that begins in one of these states needs the ramdisk.
# In the other states the machine may run the system of its user.
FAST_TRACK_NEEDS_RAMDISK: Final = FAST_TRACK_IDLE | {states.VERIFYING, states.INSPECTFAIL, states.CLEANFAIL}


def is_fast_track_wanted(driver_info: Mapping[str, object], default: bool) -> bool:
    """Return whether the ramdisk of a node stays; fast_track in driver_info overrides the option ``default``."""
    own = driver_info.get("fast_track")
    return default if own is None else syntax.truth_of(str(own)) is True

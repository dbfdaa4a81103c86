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

from ironic.core.flows import states
from ironic.core.keys import internal_keys
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.texts import syntax
from ironic.core.texts.syntax import plain_text

_URL: Final = InternalKey("agent_url", str, "Where the agent is called; since its first heartbeat.")
_TOKEN: Final = InternalKey("agent_secret_token", str, "The token of the agent; masked in answers.")
_PREGENERATED: Final = InternalKey(
    "agent_secret_token_pregenerated", bool, "The token is built into the image, and outlives a restart."
)
# Only with a token, and only where no unknown proxy was in between.
_TOKEN_SOURCE: Final = InternalKey("agent_looked_up_from", str, "The address that got the token, if that is certain.")
# Earlier releases may have stored any value.
_CERTIFICATE: Final = InternalKey("agent_verify_ca", object, "The certificate by which the agent is known.")
_LAST_HEARTBEAT: Final = InternalKey("agent_last_heartbeat", str, "When the agent was heard of last.")
_VERSIONS: Final = InternalKey(
    "hardware_manager_version", dict[str, str], "The versions of the hardware managers that offered the agent's steps."
)
POWER_CHANGED: Final = InternalKey(
    "last_power_state_change", str, "When the power was changed last, which ends or starts the agent."
)

# Field of a heartbeat -> key it is stored under.
_STORED: Final[Mapping[str, InternalKey[Any]]] = {
    "callback_url": _URL,
    "agent_version": InternalKey("agent_version", str, "The version of the agent."),
    "agent_verify_ca": _CERTIFICATE,
    "agent_status": InternalKey("agent_status", str, "What the agent does, by its last heartbeat."),
    "agent_status_message": InternalKey("agent_status_message", str, "The same in the agent's words."),
}
# Free text of the agent.
_FREE_TEXT: Final = ("agent_version", "agent_status_message")

# The fields of a heartbeat, as deploy interfaces take them.
HEARTBEAT: Final = tuple(_STORED)

# How disks are erased: the keys that the agent reads from its node -> options of [deploy]. Several keys of the agent
# are one option today.
_OPTIONS_OF_ERASURE: Final[Mapping[str, str]] = {
    "agent_erase_devices_iterations": "shred_random_overwrite_iterations",
    "agent_erase_devices_zeroize": "shred_final_overwrite_with_zeros",
    "agent_continue_if_secure_erase_failed": "continue_if_disk_secure_erase_fails",
    "agent_continue_if_ata_erase_failed": "continue_if_disk_secure_erase_fails",
    "agent_enable_nvme_secure_erase": "enable_nvme_secure_erase",
    "agent_enable_ata_secure_erase": "enable_ata_secure_erase",
    "disk_erasure_concurrency": "disk_erasure_concurrency",
    "agent_erase_skip_read_only": "erase_skip_read_only",
}

_ERASURE: Final[Mapping[InternalKey[Any], str]] = {
    InternalKey(name, object, f"Option `[deploy]{option}`, for the agent."): option
    for name, option in _OPTIONS_OF_ERASURE.items()
}

# The keys of driver_internal_info that the released agent was observed to read before it gets commands, which carry
# the node; some are erasure settings that it reads from any node it gets.
READ_BY_AGENTS: Final = frozenset(
    {_URL.name, _TOKEN.name, "agent_enable_discard_erase", "deploy_boot_mode", "wipe_special_filesystems"}
    | _OPTIONS_OF_ERASURE.keys()
)

Steps = dict[str, list[dict[str, object]]]


class Record(internal_keys.Record, Protocol):
    """The part of a node record that is used here."""

    def now(self) -> datetime: ...


class KnownAgent:
    """Read-only view of the agent in a node's driver_internal_info."""

    __slots__ = ("_info",)

    def __init__(self, info: Mapping[str, Any]) -> None:
        self._info = info

    @property
    def url(self) -> str | None:
        """The callback URL of the agent; None until its first heartbeat after the start of the machine."""
        return _URL.read(self._info)

    @property
    def is_known(self) -> bool:
        """Return whether an agent has sent a heartbeat since the machine was started for it."""
        return bool(self.url)

    @property
    def token(self) -> str | None:
        """The token that the agent presents, and that is presented to it when it is called."""
        return _TOKEN.read(self._info)

    @property
    def token_source(self) -> str | None:
        """The address that got the token, if it is certain."""
        return _TOKEN_SOURCE.read(self._info)

    @property
    def certificate(self) -> Any:
        """The certificate that the agent sent; older releases may have stored any value."""
        return _CERTIFICATE.read(self._info)

    @property
    def last_heartbeat(self) -> datetime | None:
        """The time of the last heartbeat, UTC without time zone; None if there was none."""
        return syntax.moment_of(_LAST_HEARTBEAT.read(self._info))

    @property
    def power_changed_at(self) -> datetime | None:
        """The time of the last power change that was ordered, UTC without time zone; None if there was none."""
        return syntax.moment_of(POWER_CHANGED.read(self._info))

    def has_recent_heartbeat(self, now: datetime, limit: float) -> bool:
        """Return whether a heartbeat came in the last ``limit`` seconds; ``now`` is UTC without time zone."""
        came = self.last_heartbeat
        return came is not None and now - came <= timedelta(seconds=limit)

    def steps(self, flow: str) -> Steps:
        """Return the steps of the agent for a flow, by interface; empty until they are fetched."""
        return _steps_key(flow).read(self._info) or {}

    def steps_refreshed_at(self, flow: str) -> str | None:
        """Return the time at which the steps were fetched, ISO 8601."""
        return _refreshed_key(flow).read(self._info)

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the hardware managers that offered the steps; sent back to the agent with every step."""
        return _VERSIONS.read(self._info) or {}


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
                key.set(self._node, plain_text(said) if field in _FREE_TEXT else said)
        self.record_contact(self._node.now())

    def record_contact(self, now: datetime) -> None:
        """Store the time of a contact with the ramdisk; ``now`` is UTC without time zone."""
        _LAST_HEARTBEAT.set(self._node, now.isoformat())

    def store_token(self, token: str, source: str | None) -> None:
        """Store the token issued to a ramdisk, and its address if that is certain."""
        _TOKEN.set(self._node, token)
        if source:
            _TOKEN_SOURCE.set(self._node, source)
        else:
            self._drop(_TOKEN_SOURCE)

    def store_built_in_token(self, token: str) -> None:
        """Store a token that is built into the image which the machine boots; no look-up is issued another one."""
        self.store_token(token, None)
        _PREGENERATED.set(self._node, True)

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
        if not _PREGENERATED.read(self._info):
            self._drop(_TOKEN)

    def store_steps(self, flow: str, by_manager: Mapping[str, Iterable[Mapping[str, Any]]], versions: Any) -> None:
        """Store the steps that an agent offers, by hardware manager, and the versions of those."""
        by_interface: Steps = {}
        for steps in by_manager.values():
            for step in steps:
                by_interface.setdefault(str(step["interface"]), []).append(dict(step))
        _steps_key(flow).set(self._node, by_interface)
        _refreshed_key(flow).set(self._node, self._node.now().isoformat())
        _VERSIONS.set(self._node, dict(versions or {}))

    def set_erasure_options(self, options: Mapping[str, Any]) -> None:
        """Store the options of [deploy] about erasing disks in the keys that the agent reads."""
        for key, option in _ERASURE.items():
            key.set(self._node, options[option])

    def _drop(self, *keys: InternalKey[Any]) -> None:
        for key in keys:
            key.delete(self._node)


def _steps_key(flow: str) -> InternalKey[Steps]:
    return InternalKey(f"agent_cached_{flow}_steps", dict, "The steps that the agent offers, by interface.")


def _refreshed_key(flow: str) -> InternalKey[str]:
    return InternalKey(f"{_steps_key(flow).name}_refreshed", str, "When these steps were fetched.")


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

"""What a node remembers of its agent: the one owner of the agent's keys in driver_internal_info.

The keys are those that clients, drivers and the agent itself know (doc/contract/steps.md#progress): where the agent
listens, when it spoke last, the token it was given, the steps it offers. A token is worth nothing once the machine was
switched off or the operation is over, so it is forgotten then; one that was built into an image (pregenerated)
survives a restart of the machine.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from ironic.core import syntax
from ironic.core.plain_text import plain

_URL: Final = "agent_url"
_TOKEN: Final = "agent_secret_token"
_PREGENERATED: Final = "agent_secret_token_pregenerated"
# The address that the token was given to; only while there is one, and where no unknown proxy was in between.
_TOKEN_SOURCE: Final = "agent_looked_up_from"
_CERTIFICATE: Final = "agent_verify_ca"
_LAST_HEARTBEAT: Final = "agent_last_heartbeat"
_VERSIONS: Final = "hardware_manager_version"

# Field of a heartbeat -> key it is kept under.
_KEPT: Final = {
    "callback_url": _URL,
    "agent_version": "agent_version",
    "agent_verify_ca": _CERTIFICATE,
    "agent_status": "agent_status",
    "agent_status_message": "agent_status_message",
}
# What an agent says in its own words, to be read by people.
_FOR_PEOPLE: Final = ("agent_version", "agent_status_message")

# The fields of a heartbeat, as deploy interfaces take them.
HEARTBEAT: Final = tuple(_KEPT)

# How disks are to be erased, where the agent reads it with its node: the agent's names -> options of [deploy]. It knows
# several names for what is one option today.
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

# What the released agent was seen to read of driver_internal_info before it gets commands, which bring the node along;
# some are settings of erasing that it reads from any node it is given.
READ_BY_AGENTS: Final = frozenset(
    {*_ERASURE, _URL, _TOKEN, "agent_enable_discard_erase", "deploy_boot_mode", "wipe_special_filesystems"}
)

Steps = dict[str, list[dict[str, object]]]


class Record(Protocol):
    """The part of a node's record that is used here."""

    @property
    def driver_internal_info(self) -> Any: ...

    def set_driver_internal_info(self, key: str, value: Any) -> Any: ...

    def del_driver_internal_info(self, key: str) -> Any: ...


class KnownAgent:
    """The agent as driver_internal_info tells of it, for whoever only reads: a stored row is enough."""

    __slots__ = ("_info",)

    def __init__(self, info: Mapping[str, Any]) -> None:
        self._info = info

    @property
    def url(self) -> str | None:
        """Where the agent is called; None while none has spoken since the machine was started for it."""
        return self._info.get(_URL)

    @property
    def is_known(self) -> bool:
        """Tell whether an agent has spoken since the machine was started for it."""
        return bool(self.url)

    @property
    def token(self) -> str | None:
        """What the agent has to show, and is shown when it is called."""
        return self._info.get(_TOKEN)

    @property
    def token_source(self) -> str | None:
        """The address that the token was given to, where that is certain."""
        return self._info.get(_TOKEN_SOURCE)

    @property
    def certificate(self) -> Any:
        """The certificate that the agent brought; older releases may have stored anything there."""
        return self._info.get(_CERTIFICATE)

    @property
    def last_heartbeat(self) -> datetime | None:
        """When the agent was heard of last, UTC without zone."""
        return syntax.moment_of(self._info.get(_LAST_HEARTBEAT))

    def was_heard(self, now: datetime, limit: float) -> bool:
        """Tell whether a heartbeat came in the last ``limit`` seconds; ``now`` is UTC."""
        came = self.last_heartbeat
        return came is not None and now - came <= timedelta(seconds=limit)

    # The steps it offers

    def steps(self, flow: str) -> Steps:
        """Return the agent's steps for a flow by interface; empty when no agent was asked."""
        return self._info.get(_steps_key(flow)) or {}

    def steps_refreshed_at(self, flow: str) -> str | None:
        """Return when the agent was asked for its steps."""
        return self._info.get(_refreshed_key(flow))

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the hardware managers that offered the steps; they go back to the agent with every step."""
        return self._info.get(_VERSIONS) or {}


class AgentMemory(KnownAgent):
    """The same of a node's record, with what may be changed; the caller saves the node."""

    __slots__ = ("_node",)

    def __init__(self, node: Record) -> None:
        super().__init__(node.driver_internal_info)
        self._node = node

    def record(self, beat: Mapping[str, Any]) -> None:
        """Keep what a heartbeat says, and when it came."""
        for field, key in _KEPT.items():
            if (said := beat.get(field)) is not None:
                self._node.set_driver_internal_info(key, plain(said) if field in _FOR_PEOPLE else said)
        self.note_life(_now())

    def note_life(self, now: datetime) -> None:
        """Note that the ramdisk has given a sign of life; ``now`` is UTC without zone."""
        self._node.set_driver_internal_info(_LAST_HEARTBEAT, now.isoformat())

    def give_token(self, token: str, source: str | None) -> None:
        """Remember the token that a ramdisk is given, and its address if that is certain."""
        self._node.set_driver_internal_info(_TOKEN, token)
        if source:
            self._node.set_driver_internal_info(_TOKEN_SOURCE, source)
        else:
            self._drop(_TOKEN_SOURCE)

    def take_token_back(self) -> None:
        """Forget a token that no ramdisk was told after all."""
        self._drop(_TOKEN, _TOKEN_SOURCE)

    def make_room(self, now: datetime) -> None:
        """Let another ramdisk look the node up where one stayed and is silent.

        It has called just now, and has the same time as others until its first heartbeat.
        """
        self._drop(_TOKEN, _URL)
        self.note_life(now)

    def forget(self) -> None:
        """Forget the agent: what it ran for is over, or something new begins."""
        self._drop(_URL, _CERTIFICATE, _TOKEN, _TOKEN_SOURCE, _PREGENERATED)

    def machine_restarts(self) -> None:
        """Forget the agent that dies with the machine; a token in its image will be shown again."""
        self._drop(_URL, _TOKEN_SOURCE)
        if not self._info.get(_PREGENERATED):
            self._drop(_TOKEN)

    def keep_steps(self, flow: str, by_manager: Mapping[str, Iterable[Mapping[str, Any]]], versions: Any) -> None:
        """Keep the steps that an agent offers, as it names them by hardware manager."""
        by_interface: Steps = {}
        for steps in by_manager.values():
            for step in steps:
                by_interface.setdefault(str(step["interface"]), []).append(dict(step))
        self._node.set_driver_internal_info(_steps_key(flow), by_interface)
        self._node.set_driver_internal_info(_refreshed_key(flow), _now().isoformat())
        self._node.set_driver_internal_info(_VERSIONS, dict(versions or {}))

    def tell_how_to_erase(self, options: Mapping[str, Any]) -> None:
        """Put the options of [deploy] about erasing disks where the agent reads them."""
        for key, option in _ERASURE.items():
            self._node.set_driver_internal_info(key, options[option])

    def _drop(self, *keys: str) -> None:
        for key in keys:
            self._node.del_driver_internal_info(key)


def _steps_key(flow: str) -> str:
    return f"agent_cached_{flow}_steps"


def _refreshed_key(flow: str) -> str:
    return f"{_steps_key(flow)}_refreshed"


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)

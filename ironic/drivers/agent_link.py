"""What is remembered of the agent on a node: where it listens, when it spoke last, what it showed as its token.

The keys in driver_internal_info are those that clients and drivers know (facts/steps.yaml, progress_fields). A token
is worth nothing once the machine was switched off or the operation is over, so it is forgotten then; one that was
built into an image (pregenerated) survives a restart of the machine.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ironic.core import states
from ironic.core.plain_text import plain
from ironic.drivers import fast_track
from ironic.drivers.task import Node
from ironic.inspection.sender import TOKEN_SOURCE

_URL: Final = "agent_url"
_TOKEN: Final = "agent_secret_token"
_PREGENERATED: Final = "agent_secret_token_pregenerated"
_CERTIFICATE: Final = "agent_verify_ca"

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


def record(node: Node, beat: Mapping[str, Any]) -> None:
    """Keep what a heartbeat says, and when it came."""
    for field, key in _KEPT.items():
        if (said := beat.get(field)) is not None:
            node.set_driver_internal_info(key, plain(said) if field in _FOR_PEOPLE else said)
    now = datetime.now(UTC).replace(tzinfo=None)
    node.set_driver_internal_info("agent_last_heartbeat", now.isoformat())


def is_known(node: Node) -> bool:
    """Tell whether an agent has spoken since the machine was started for it."""
    return bool(node.driver_internal_info.get(_URL))


def begin_anew(node: Node) -> None:
    """Forget the agent of an operation before, unless the one that begins now goes on with it."""
    if not fast_track.can_go_on(node):
        forget(node)


def leave(node: Node) -> None:
    """Forget the agent when its operation is over, unless its ramdisk stays for the next one.

    One that has not been heard of looks its node up again after an inspection, and needs a token then.
    """
    stays = fast_track.is_wanted(node) and is_known(node) and node.power_state != states.POWER_OFF
    if not stays:
        forget(node)


def forget(node: Node) -> None:
    """Forget the agent: what it ran for is over, or something new begins."""
    for key in (_URL, _CERTIFICATE, _TOKEN, TOKEN_SOURCE, _PREGENERATED):
        node.del_driver_internal_info(key)


def machine_restarts(node: Node) -> None:
    """Forget the agent that dies with the machine; a token in its image will be shown again."""
    for key in (_URL, TOKEN_SOURCE):
        node.del_driver_internal_info(key)
    if not node.driver_internal_info.get(_PREGENERATED):
        node.del_driver_internal_info(_TOKEN)

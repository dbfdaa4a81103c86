"""`/v1/lookup`: a ramdisk asks which node it runs on, by the addresses of its network cards or by UUID.

The first one to ask is given a token and has to show it from then on; later ones learn only that there is one. Whether
nothing matches, several nodes do or the node waits for no ramdisk can't be told apart from the answer.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import answers, ramdisk
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core import fast_track, states
from ironic.core.agent_memory import AgentMemory, KnownAgent
from ironic.core.errors import InvalidParameterValue, NodeNotFound, NotFound
from ironic.core.secrets import REPLACEMENT
from ironic.core.values import Mac, Uuid, Words

if TYPE_CHECKING:
    from ironic.db import NodeRecord

LOG = logging.getLogger(__name__)

_ALSO: Final = (
    "uuid",
    "provision_state",
    "management_interface",
    "driver",
    "conductor_group",
    "driver_info",
    "driver_internal_info",
)
_MAC: Final = Mac()
# More than any machine has; a query of arbitrary length is not worth a look.
_MOST_ADDRESSES: Final = 1024


def lookup(request: Request, addresses: Sequence[str] = (), node_uuid: str = "") -> Answer:
    """Tell a ramdisk about its node."""
    view = ramdisk.view(request)
    columns = tuple(dict.fromkeys((*view.columns, *_ALSO)))
    row = _row(request, columns, node_uuid or _by_addresses(request, addresses))
    facts = dict(zip(columns, row, strict=True))
    driver_info = orjson.loads(facts["driver_info"] or "{}")
    memory = orjson.loads(facts["driver_internal_info"] or "{}")
    _check_state(request, facts["uuid"], facts["provision_state"], driver_info)
    with ramdisk.discreet():
        request.placement.host_for(facts["uuid"], facts["driver"], facts["conductor_group"])
    if request.minor < ramdisk.SINCE_TOKEN:
        return _answer(request, view.document(request, row), facts, None)
    if KnownAgent(memory).token and not _is_silent(request, facts["provision_state"], memory):
        ramdisk.note_repeated(request, facts["uuid"], memory)
        return _answer(request, view.document(request, row), facts, REPLACEMENT)
    token, node = ramdisk.hand_out(request, facts["uuid"], lambda record: _admit(request, record))
    return _answer(request, view.of_record(request, node, {}), facts, token)


def _answer(request: Request, node: dict[str, Any], facts: dict[str, Any], token: str | None) -> Answer:
    return answers.secret(ramdisk.document(request, node, facts["management_interface"], token))


def _row(request: Request, columns: tuple[str, ...], uuid: str) -> tuple[Any, ...]:
    """Return these columns of the node that is asked for."""
    try:
        return request.store.nodes.row(columns, uuid)
    except NodeNotFound:
        raise _nothing_found(f"there is no node {uuid}") from None


def _by_addresses(request: Request, addresses: Sequence[str]) -> str:
    macs = list(dict.fromkeys(mac for mac in map(_mac, addresses) if mac is not None))
    if not macs:
        raise InvalidParameterValue(err="A look-up needs the MAC addresses of the machine or the UUID of its node.")
    if len(macs) > _MOST_ADDRESSES:
        raise InvalidParameterValue(err=f"A look-up takes at most {_MOST_ADDRESSES} addresses.")
    owners = request.store.nodes.by_macs(macs)
    if len(owners) != 1:
        raise _nothing_found(f"{len(owners)} nodes own the addresses {', '.join(macs)}")
    return owners[0].uuid


def _mac(text: str) -> str | None:
    """Return an address as it is stored, None when it is no address."""
    try:
        spelled: str = _MAC.validate(text)
    except ValueError:
        return None
    return spelled


def _admit(request: Request, record: "NodeRecord") -> None:
    """Check the node as nobody can change it, and make room for another ramdisk where one stayed and is silent."""
    _check_state(request, record.uuid, record.provision_state, record.driver_info)
    if _is_silent(request, record.provision_state, record.driver_internal_info):
        AgentMemory(record).make_room(record.now())


def _is_silent(request: Request, state: str, memory: Mapping[str, Any]) -> bool:
    """Tell whether a ramdisk that stayed has not been heard of for so long that another one may take its place.

    Nobody waits for it, and somebody may have restarted the machine by hand.
    """
    now, limit = request.store.clock(), request.settings.ramdisk.fast_track_timeout
    return state in fast_track.IDLE and not KnownAgent(memory).was_heard(now, limit)


def _check_state(request: Request, uuid: str, state: str, driver_info: Mapping[str, Any]) -> None:
    settings = request.settings
    if not settings.restrict_lookup or state in states.LOOKUP_ALLOWED:
        return
    if state in fast_track.LOOKUP_ALLOWED and fast_track.is_wanted(driver_info, settings.ramdisk.fast_track):
        return
    raise _nothing_found(f"node {uuid} is in state '{state}' and waits for no ramdisk")


def _nothing_found(reason: str) -> NotFound:
    """Return the one error for every look-up that fails."""
    LOG.info("The look-up of a ramdisk failed: %s", reason)
    return NotFound("No node waits for this ramdisk.")


ROUTES = (
    Route(
        "GET",
        "/v1/lookup",
        lookup,
        since=22,
        shape=FAULT,
        rule="baremetal:driver:ipa_lookup",
        public=True,
        first=ramdisk.admit,
        # The UUID wins over addresses.
        query=(Argument("addresses", Words()), Argument("node_uuid", Uuid())),
        ok=200,
        also=(409,),
        answer=ramdisk.TOLD,
    ),
)

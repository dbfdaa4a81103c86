"""`/v1/lookup`: a ramdisk looks up the node it runs on, by the addresses of its network cards or by UUID.

The first look-up is issued a token, which the ramdisk has to send from then on; later ones get a mask in its place. The
answer is the same whether no node matches, several do, or the node does not wait for a ramdisk.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import answers, ramdisk_access
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import InvalidParameterValue, NodeNotFound, NotFound
from ironic.core.flows import states
from ironic.core.memory import agent_memory
from ironic.core.memory.agent_memory import AgentMemory, KnownAgent
from ironic.core.secrets.masking import REPLACEMENT
from ironic.core.values.value_types import Mac, Uuid, Words

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_COLUMNS: Final = (
    "uuid",
    "provision_state",
    "management_interface",
    "driver",
    "conductor_group",
    "driver_info",
    "driver_internal_info",
)
_MAC: Final = Mac()
# More than any machine has.
_MOST_ADDRESSES: Final = 1024


def lookup(request: Request, addresses: Sequence[str] = (), node_uuid: str = "") -> Answer:
    """Look up the node of a ramdisk."""
    view = ramdisk_access.node_view(request)
    uuid = node_uuid or _uuid_by_addresses(request, addresses)
    columns = tuple(dict.fromkeys((*view.columns, *_COLUMNS)))
    try:
        row = request.store.nodes.row(columns, uuid)
    except NodeNotFound:
        raise _nothing_found(request, f"there is no node {uuid}") from None
    facts = dict(zip(columns, row, strict=True))
    driver_info = orjson.loads(facts["driver_info"] or "{}")
    memory = orjson.loads(facts["driver_internal_info"] or "{}")
    _check_state(request, facts["uuid"], facts["provision_state"], driver_info)
    with ramdisk_access.hide_node_details():
        request.hash_ring.host_for(facts["uuid"], facts["driver"], facts["conductor_group"])
    token: str | None = None
    if request.minor < ramdisk_access.SINCE_TOKEN:
        document = view.document(request, row)
    elif KnownAgent(memory).token and not _is_silent(request, facts["provision_state"], memory):
        ramdisk_access.log_repeated_request(request, facts["uuid"], memory)
        document, token = view.document(request, row), REPLACEMENT
    else:
        token, node = ramdisk_access.issue_token(request, facts["uuid"], partial(_prepare, request))
        document = view.of_record(request, node, {})
    return answers.secret(ramdisk_access.document(request, document, facts["management_interface"], token))


def _uuid_by_addresses(request: Request, addresses: Sequence[str]) -> str:
    """Return the UUID of the only node that has ports with these MAC addresses; other addresses are ignored."""
    macs: dict[str, None] = {}
    for address in addresses:
        with suppress(ValueError):
            macs[_MAC.validate(address)] = None
    if not macs:
        raise InvalidParameterValue(err="A look-up needs the MAC addresses of the machine or the UUID of its node.")
    if len(macs) > _MOST_ADDRESSES:
        raise InvalidParameterValue(err=f"A look-up takes at most {_MOST_ADDRESSES} addresses.")
    owners = request.store.nodes.by_macs(list(macs))
    if len(owners) != 1:
        raise _nothing_found(request, f"{len(owners)} nodes have the addresses {', '.join(macs)}")
    return owners[0].uuid


def _prepare(request: Request, record: "NodeRecord") -> None:
    """Check the node while it can't change, and drop the state of a silent ramdisk so that another may replace it."""
    _check_state(request, record.uuid, record.provision_state, record.driver_info)
    if _is_silent(request, record.provision_state, record.driver_internal_info):
        AgentMemory(record).allow_new_lookup(record.now())


def _is_silent(request: Request, state: str, memory: Mapping[str, Any]) -> bool:
    """Return whether an idle ramdisk has sent no heartbeat for so long that another one may replace it.

    No operation waits for it, and an operator may have restarted the machine.
    """
    now, limit = request.store.clock.now(), request.settings.ramdisk.fast_track_timeout
    return state in agent_memory.FAST_TRACK_IDLE and not KnownAgent(memory).has_recent_heartbeat(now, limit)


def _check_state(request: Request, uuid: str, state: str, driver_info: Mapping[str, Any]) -> None:
    """Raise NotFound for a node that does not wait for a ramdisk, unless look-ups are not restricted."""
    settings = request.settings
    if not settings.restrict_lookup or state in states.LOOKUP_ALLOWED:
        return
    if state in agent_memory.FAST_TRACK_LOOKUP_ALLOWED and agent_memory.is_fast_track_wanted(
        driver_info, settings.ramdisk.fast_track
    ):
        return
    raise _nothing_found(request, f"node {uuid} is in state '{state}' and does not wait for a ramdisk")


def _nothing_found(request: Request, reason: str) -> NotFound:
    """Return the error of every look-up that fails; the reason is only logged."""
    source = ramdisk_access.source(request)
    request.settings.refusals.note(source, "The look-up of a ramdisk at %s failed: %s.", source, reason)
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
        of_ramdisks=True,
        precheck=ramdisk_access.admit,
        # The UUID wins over the addresses.
        query=(Argument("addresses", Words()), Argument("node_uuid", Uuid())),
        ok=200,
        also=(409,),
        answer=ramdisk_access.DOCUMENT_SCHEMA,
    ),
)

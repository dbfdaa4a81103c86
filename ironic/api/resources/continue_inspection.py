"""`/v1/continue_inspection`: a ramdisk posts what it has found out about its machine.

The data are checked and matched with the one node that waits for them; a conductor works on them in the background. Old
agents speak exactly version 1.1 and learn the UUID of their node; newer ones get what a look-up answers, with the
token if it is given out for the first time. Every failed match is the same 404, as is a version in between. Early rules
may call slow services, so reports are worked on by a few threads that are there for nothing else; who finds too many
waiting for these gets a 503. Source: demands S72 to S77.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from ironic.api import answers, ramdisk, telling
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, Parsed
from ironic.api.errors import Refused
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import OPEN, TEXT, closed
from ironic.core import permit, states
from ironic.core.errors import IronicError
from ironic.core.permit import LANE, MustMove
from ironic.core.secrets import REPLACEMENT
from ironic.core.values import Text, Uuid
from ironic.inspection import boot_token
from ironic.inspection.arrival import Arrival, accept
from ironic.inspection.lookup import nothing_found
from ironic.inspection.rejections import Rejections

if TYPE_CHECKING:
    from ironic.db import NodeRecord
    from ironic.rpc.conversation import ConductorCalls

_OLD: Final = 1
_SINCE: Final = 84
_GAP: Final = range(_OLD + 1, _SINCE)


def _admit(request: Request) -> None:
    match request.environ.get(LANE):
        case permit.QUICK:
            raise MustMove
        case permit.FULL:
            raise ramdisk.too_busy("Too many inspection reports wait")
    ramdisk.admit_report(request)
    if request.minor in _GAP:
        raise Refused(404, f"This needs API version 1.{_SINCE} or later, or exactly 1.{_OLD}.")


def _too_early(name: str, since: int) -> Exception:
    return Refused(404, f"{name} needs API version 1.{since} or later.")


def continue_inspection(request: Request, report: object, node_uuid: str | None = None, **shown: str) -> Answer:
    """Take what a ramdisk has found."""
    with _slot(request):
        arrival = accept(
            request.store,
            request.settings.rule_book,
            report,
            node_uuid,
            boot_token=shown.get(boot_token.PARAMETER, ""),
            discovery=request.settings.discovery,
            rejections=Rejections(request.store, request.settings.rejected_callbacks_kept, ramdisk.source(request)),
        )
    if arrival.created:
        telling.enrolled(request, arrival.node.uuid)
    with ramdisk.discreet():
        conductor = request.conductors.serving(arrival.node)
        return (_answer_old if request.minor == _OLD else _answer)(request, conductor, arrival)


@contextmanager
def _slot(request: Request) -> Iterator[None]:
    """Be one of those that are worked on; other servers than ours have no threads for reports alone."""
    slots = request.settings.report_slots
    if not slots.acquire(blocking=False):
        raise ramdisk.too_busy("As many inspection reports as allowed are worked on")
    try:
        yield
    finally:
        slots.release()


def _answer_old(request: Request, conductor: "ConductorCalls", arrival: Arrival) -> Answer:
    _hand_on(request, conductor, arrival)
    return answers.document({"uuid": arrival.node.uuid})


def _answer(request: Request, conductor: "ConductorCalls", arrival: Arrival) -> Answer:
    # The token first: from the moment the conductor has accepted the data, the node is the conductor's.
    expected = states.ENROLL if arrival.discovered else states.INSPECTWAIT
    token, node = ramdisk.hand_out(request, arrival.node.uuid, partial(_check_state, expected))
    document = ramdisk.view(request).of_record(request, node, {})
    try:
        _hand_on(request, conductor, arrival)
    except IronicError:
        if token != REPLACEMENT:
            ramdisk.take_back(request, node.uuid, token)
        raise
    return answers.secret(ramdisk.document(request, document, node.management_interface, token))


def _check_state(expected: str, record: "NodeRecord") -> None:
    if record.provision_state != expected:
        raise nothing_found()


def _hand_on(request: Request, conductor: "ConductorCalls", arrival: Arrival) -> None:
    conductor.continue_inspection(request.context, arrival.node.uuid, arrival.inventory, arrival.plugin_data)


ROUTES = (
    Route(
        "POST",
        "/v1/continue_inspection",
        continue_inspection,
        rule="baremetal:driver:ipa_continue_inspection",
        public=True,
        body_limit="max_body_inspection",
        first=_admit,
        gap=_GAP,
        query=(
            Argument("node_uuid", Uuid(), since=_SINCE, early=_too_early),
            Argument(boot_token.PARAMETER, Text()),
        ),
        # What is refused is noted for an operator, so it is judged where that is done.
        body=Parsed("report", OPEN | {"required": ["inventory"]}),
        ok=200,
        also=(202,),
        answer=ramdisk.TOLD,
        oldest=closed({"uuid": TEXT}, ["uuid"]),
    ),
)

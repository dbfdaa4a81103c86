"""`/v1/continue_inspection`: a ramdisk posts the inspection data of its machine.

The data are checked and matched with the one node that waits for them; a conductor processes them in the background
(`ironic.api.inspection_reports`). Old agents use exactly version 1.1 and get the UUID of their node; newer ones get the
answer of a look-up, with the agent token if it is issued for the first time. A version in between is a 404, like every
failed match. Source: demands S72 to S77.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from ironic.api import answers, inspection_reports, ramdisk_access
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, UncheckedBody
from ironic.api.error_responses import Refused
from ironic.api.json_schema import OPEN, TEXT, closed
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.core.secrets.masking import REPLACEMENT
from ironic.core.values.value_types import Text, Uuid
from ironic.inspection import boot_tokens
from ironic.inspection.arrival import Arrival
from ironic.inspection.node_lookup import nothing_found
from ironic.inspection.rules import EarlyRules

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_OLD: Final = 1
_SINCE: Final = 84
_GAP: Final = range(_OLD + 1, _SINCE)


def _admit(request: Request) -> EarlyRules:
    """Admit a report and return its early rules; raises 404 for versions that have no such path."""
    return inspection_reports.admit(request, partial(_check_version, request.minor))


def _check_version(minor: int) -> None:
    if minor in _GAP:
        raise Refused(404, f"This needs API version 1.{_SINCE} or later, or exactly 1.{_OLD}.")


def continue_inspection(
    request: Request, report: object, early_rules: EarlyRules, node_uuid: str | None = None, **shown: str
) -> Answer:
    """Post the inspection data of a machine."""
    arrival, process = inspection_reports.receive(
        request, report, early_rules, node_uuid, shown.get(boot_tokens.PARAMETER, "")
    )
    with ramdisk_access.hide_node_details():
        if request.minor == _OLD:
            process()
            return answers.document({"uuid": arrival.node.uuid})
        return _with_token(request, arrival, process)


def _with_token(request: Request, arrival: Arrival, process: Callable[[], object]) -> Answer:
    """Issue the agent token, let the conductor process the data, and return the answer of a look-up.

    The token comes first: as soon as the conductor has accepted the data, it has locked the node.
    """
    expected = states.ENROLL if arrival.discovered else states.INSPECTWAIT

    def check_state(record: "NodeRecord") -> None:
        if record.provision_state != expected:
            raise nothing_found()

    token, node = ramdisk_access.issue_token(request, arrival.node.uuid, check_state)
    document = ramdisk_access.node_view(request).of_record(request, node, {})
    try:
        process()
    except IronicError:
        if token != REPLACEMENT:
            ramdisk_access.revoke_token(request, node.uuid, token)
        raise
    return answers.secret(ramdisk_access.document(request, document, node.management_interface, token))


def _too_new(name: str, since: int) -> Exception:
    return Refused(404, f"{name} needs API version 1.{since} or later.")


ROUTES = (
    Route(
        "POST",
        "/v1/continue_inspection",
        continue_inspection,
        rule="baremetal:driver:ipa_continue_inspection",
        public=True,
        of_ramdisks=True,
        body_limit="max_body_inspection",
        precheck=_admit,
        precheck_as="early_rules",
        gap=_GAP,
        query=(
            Argument("node_uuid", Uuid(), since=_SINCE, too_new=_too_new),
            Argument(boot_tokens.PARAMETER, Text()),
        ),
        # Checked by `accept`, which records refused reports for operators.
        body=UncheckedBody("report", OPEN | {"required": ["inventory"]}),
        ok=200,
        also=(202,),
        answer=ramdisk_access.DOCUMENT_SCHEMA,
        oldest=closed({"uuid": TEXT}, ["uuid"]),
    ),
)

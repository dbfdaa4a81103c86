"""`/v1/continue`: a ramdisk posts the inspection data of its machine to the inspector's address.

The same as `/v1/continue_inspection` of the bare metal API: without credentials, with its limits, and with one answer
for all data that no node waits for.
"""

from ironic.api import answers, inspection_reports, ramdisk_access
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, UncheckedBody
from ironic.api.json_schema import OPEN, TEXT, closed
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.values.value_types import Text, Uuid
from ironic.inspection import boot_tokens
from ironic.inspection.rules import EarlyRules


def receive(
    request: Request, report: object, early_rules: EarlyRules, node_uuid: str | None = None, **shown: str
) -> Answer:
    """Post the inspection data of a machine."""
    arrival, process = inspection_reports.receive(
        request, report, early_rules, node_uuid, shown.get(boot_tokens.PARAMETER, "")
    )
    with ramdisk_access.hide_node_details():
        process()
    return answers.document({"uuid": arrival.node.uuid})


ROUTES = (
    Route(
        "POST",
        "/v1/continue",
        receive,
        rule="baremetal:driver:ipa_continue_inspection",
        public=True,
        of_ramdisks=True,
        body_limit="max_body_inspection",
        precheck=inspection_reports.admit,
        precheck_as="early_rules",
        query=(Argument("node_uuid", Uuid()), Argument(boot_tokens.PARAMETER, Text())),
        body=UncheckedBody("report", OPEN | {"required": ["inventory"]}),
        ok=200,
        answer=closed({"uuid": TEXT}, ["uuid"]),
    ),
)

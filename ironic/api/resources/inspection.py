"""`/v1/inspection/rejected_callbacks`: the inspection data that were refused recently, and why.

Ramdisks get no reason for a refusal; operators find it here. The list has at most [inspector]rejected_callbacks_kept
entries and is the same on every API process.
"""

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.json_schema import OPEN, items
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.values.value_types import show_time


def index(request: Request) -> Answer:
    """List refused inspection data, the newest first."""
    found = request.store.rejected_callbacks.newest(request.settings.rejected_callbacks_kept)
    shown = [one._asdict() | {"at": show_time(one.at)} for one in found]
    return answers.document({"rejected_callbacks": shown})


ROUTES = (
    Route(
        "GET",
        "/v1/inspection/rejected_callbacks",
        index,
        since=84,
        shape=FAULT,
        rule="baremetal:inspection:rejected_callbacks",
        ok=200,
        answer=items("rejected_callbacks", OPEN),
    ),
)

"""`/v1/inspection/rejected_callbacks`: which inspection data were refused lately, and why.

Ramdisks learn nothing from a refusal; here is where an operator finds out. The list is as long as
[inspector]rejected_callbacks_kept at most and the same on every API process.
"""

from ironic.api import answers
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.api.schema import OPEN, items
from ironic.core.values import show_time


def index(request: Request) -> Answer:
    """List refusals, the newest first."""
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

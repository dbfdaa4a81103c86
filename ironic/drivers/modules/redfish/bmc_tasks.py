"""Tasks of a BMC: work that it goes on with after it has answered an order.

The library reads a task only as long as its monitor answers 202; how the task has ended is then lost. Here the document
is read whatever the status is. A task that is gone has ended: some BMCs delete it at once, or when they restart. A
monitor may also answer as the order itself would have been answered: with the refusal of an order that failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.redfish.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.bmc_connection import System, connector_of
from ironic.drivers.modules.redfish.bmc_messages import words_of

_UNDER_WAY: Final = frozenset({"New", "Starting", "Running", "Pending", "Stopping", "Suspended"})
_GOOD: Final = frozenset({"OK", "Warning", None})
_ACCEPTED: Final = 202
_REFUSALS: Final = (400, 409, 412, 422)
_MOST_MESSAGES: Final = 10


@dataclass(frozen=True, slots=True)
class BmcTask:
    """The state of a task; ``word`` is the BMC's, empty where it says nothing."""

    word: str
    is_over: bool
    is_good: bool = True
    text: str = ""


def monitor_of(answer: BmcAnswer) -> str | None:
    """Return the path of the monitor of the task that an order has begun; None when the BMC names none."""
    for place in (answer.document().get("@odata.id"), answer.headers.get("Location")):
        if isinstance(place, str) and place:
            return on_this_bmc(place)
    return None


def on_this_bmc(place: str) -> str:
    """Return the path of a URL; some BMCs call themselves by another name."""
    try:
        parts = urlsplit(place)
    except ValueError:
        return place
    return urlunsplit(("", "", parts.path, parts.query, ""))


def read_task(system: System, uri: str) -> BmcTask:
    """Return the state of a task by the path of its monitor."""
    try:
        answer = connector_of(system).get(uri)
    except sushy_errors.ResourceNotFoundError:
        return BmcTask("", is_over=True)
    except sushy_errors.HTTPError as error:
        if error.status_code not in _REFUSALS:
            raise
        text = words_of(error) or f"the BMC answers with status {error.status_code} and gives no reason"
        return BmcTask("", is_over=True, is_good=False, text=text)
    document = answer.document()
    word = document.get("TaskState")
    if not isinstance(word, str):
        return BmcTask("", is_over=answer.status_code != _ACCEPTED)
    if word in _UNDER_WAY:
        return BmcTask(word, is_over=False)
    is_good = word == "Completed" and document.get("TaskStatus") in _GOOD
    return BmcTask(word, is_over=True, is_good=is_good, text=_text(document))


def _text(document: Mapping[str, Any]) -> str:
    messages = document.get("Messages")
    found = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, Mapping):
            text = message.get("Message")
            usable = isinstance(text, str) and text.lower() != "unknown"
            found.append(str(text if usable else message.get("MessageId")))
    return "; ".join(found[:_MOST_MESSAGES]) or f"the BMC reports state {document.get('TaskState')} and no reason"

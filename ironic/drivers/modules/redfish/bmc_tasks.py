"""Tasks of a BMC: work that it goes on with after it has answered an order.

The library reads a task only as long as its monitor answers 202; how the task has ended is then lost. Here the document
is read whatever the status is. A task that is gone has ended: some BMCs delete it at once, or when they restart. A
monitor may also answer as the order itself would have been answered: with the refusal of an order that failed. Some
BMCs have jobs in the place of tasks, and states of their own: such a task goes on until something says that it is over.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import sushy
from sushy import exceptions as sushy_errors

from ironic.drivers.modules.redfish.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.bmc_connection import System, connector_of
from ironic.drivers.modules.redfish.bmc_messages import words_of

# States in which a task is over, in small letters; the first of each are those of the standard.
_GOOD_ENDS: Final = frozenset({"completed", "completedok", "success", "succeeded", "done", "finished"})
_BAD_ENDS: Final = frozenset(
    {"killed", "exception", "cancelled", "canceled", "completedwitherrors", "failed", "failure", "error", "aborted"}
)
_KNOWN: Final = frozenset(word.value for word in sushy.TaskState)
_BAD: Final = "Critical"
_TASK: Final = re.compile(r"\.(Task|Job)\b|/(Tasks|TaskMonitors|Jobs)/")
_ALL_PERCENT: Final = 100
_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
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
    document = answer.document()
    places = [document.get("@odata.id"), answer.headers.get("Location")]
    if not is_task(document):
        # It may be what the order is about.
        places.reverse()
    for place in places:
        if isinstance(place, str) and place.strip():
            return on_this_bmc(place.strip())
    return None


def is_task(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a task or a job of the BMC."""
    names = f"{document.get('@odata.type')} {document.get('@odata.id')}"
    return "TaskState" in document or "JobState" in document or _TASK.search(names) is not None


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
    except sushy_errors.HTTPError as error:
        if error.status_code in _GONE:
            return BmcTask("", is_over=True)
        if error.status_code not in _REFUSALS:
            raise
        text = words_of(error) or f"the BMC answers with status {error.status_code} and gives no reason"
        return BmcTask("", is_over=True, is_good=False, text=text)
    document = answer.document()
    states = (document.get("TaskState"), document.get("JobState"))
    word = next((state for state in states if isinstance(state, str) and state), "")
    is_bad = _BAD in (document.get("TaskStatus"), document.get("JobStatus"))
    plain = word.strip().lower()
    is_end = plain in _GOOD_ENDS | _BAD_ENDS
    if not is_end and (word in _KNOWN or not (is_bad or _has_ended(answer, document, word))):
        return BmcTask(word, is_over=False)
    is_good = plain not in _BAD_ENDS and not is_bad
    return BmcTask(word, is_over=True, is_good=is_good, text=_text(document, word))


def _has_ended(answer: BmcAnswer, document: Mapping[str, Any], word: str) -> bool:
    """Return whether a task in a state that is no word of the standard, or in none, is over."""
    percent = document.get("PercentComplete")
    if isinstance(percent, int | float):
        return percent >= _ALL_PERCENT
    if word:
        return isinstance(document.get("EndTime"), str)
    return answer.status_code != HTTPStatus.ACCEPTED


def _text(document: Mapping[str, Any], word: str) -> str:
    messages = document.get("Messages")
    texts = [_said(message) for message in (messages if isinstance(messages, list) else [messages])]
    return "; ".join([text for text in texts if text][:_MOST_MESSAGES]) or f"the BMC reports state {word} and no reason"


def _said(message: object) -> str:
    if not isinstance(message, Mapping):
        return message if isinstance(message, str) else ""
    texts = (message.get("Message"), message.get("MessageId"))
    return next((text for text in texts if isinstance(text, str) and text and text.lower() != "unknown"), "")

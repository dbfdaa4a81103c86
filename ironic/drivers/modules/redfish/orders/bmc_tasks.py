"""Tasks of a BMC: work that it goes on with after it has answered an order.

The library reads a task only as long as its monitor answers 202; how the task has ended is then lost. Here the document
is read whatever the status is, and `task_ends` judges it. A monitor may also answer as the order itself would have been
answered: with what was made, with the refusal of an order that failed, or with nothing. A task that is gone has ended
in a way that can't be seen: some BMCs delete it at once, or when they restart. Half a document says nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.redfish.tree.task_ends import BmcTask, End, task_in
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_messages import messages_in, refusal_of, words_of
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of
from ironic.drivers.modules.redfish.wire.plain_paths import plain_path
from ironic.drivers.modules.redfish.wire.refusals import HiddenRefusal
from ironic.integrations.hidden_faults import hidden

TASK_FAILS: Final = "its task does not say that it went well; ask an operator: the log says why"

_TASK: Final = re.compile(r"\.(Task|Job)\b|/(Tasks|TaskMonitors|Jobs)/")
_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_EXTENDED: Final = "@Message.ExtendedInfo"
_REFUSALS: Final = (400, 409, 412, 422)
# What an order is answered with that was carried out.
_DONE: Final = (HTTPStatus.OK, HTTPStatus.CREATED)
# Of a task itself, in the place of its monitor.
_OF_TASK: Final = re.compile(r"/(Tasks|Jobs)/[^/]+/?$")


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


def task_begun_by(answer: BmcAnswer) -> str | None:
    """Return the monitor of the task in which the BMC carries an order out, None when it has done so.

    Raise UnusableAnswer where it has one and does not name it.
    """
    if answer.status_code != HTTPStatus.ACCEPTED and not is_task(answer.document()):
        return None
    monitor = monitor_of(answer)
    if monitor is None:
        raise UnusableAnswer("it has accepted the order and names no task, so its end can't be seen")
    return monitor


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
    """Return the state of a task by the path of its monitor; at an address of a project its words are for the log."""
    try:
        answer = connector_of(system).get(uri)
    except sushy_errors.HTTPError as error:
        if error.status_code in _GONE:
            return BmcTask("", End.UNSAID, "its task is gone, so how it has ended can't be seen")
        if error.status_code not in _REFUSALS:
            raise
        words = "" if isinstance(error.body, HiddenRefusal) else words_of(error)
        return BmcTask("", End.BAD, words or f"the BMC {refusal_of(error)}")
    if answer.status_code == HTTPStatus.NO_CONTENT:
        return BmcTask("", End.GOOD)
    found = _state_in(answer, uri)
    found = replace(found, text=safe_text(found.text, *answer.secrets))
    has_words = answer.is_hidden and found.text
    return replace(found, text=hidden(TASK_FAILS, "A task of a BMC at an address", found.text)) if has_words else found


def _state_in(answer: BmcAnswer, uri: str) -> BmcTask:
    document = answer.document()
    found = task_in(document)
    if found.word or found.is_over or is_task(document) or _OF_TASK.search(uri) or answer.status_code not in _DONE:
        return found
    return _as_answered(document, uri)


def _as_answered(document: Mapping[str, Any], uri: str) -> BmcTask:
    """Return the state of a task whose monitor answers as the order would have been answered."""
    said = {name: document[name] for name in ("error", _EXTENDED) if document.get(name)}
    messages = messages_in(said) if said else []
    if any(message.identity == "Success" for message in messages):
        return BmcTask("", End.GOOD)
    if messages:
        return BmcTask("", End.BAD, "; ".join(message.text or message.identity for message in messages))
    made = document.get("@odata.id")
    if isinstance(made, str) and made and plain_path(on_this_bmc(made)) != plain_path(on_this_bmc(uri)):
        return BmcTask("", End.GOOD)
    return BmcTask("", End.UNSAID, "its task has answered with nothing that says how it has ended")

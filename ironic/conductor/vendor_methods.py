"""Calling what vendors offer beyond the API.

A driver publishes its methods with their terms (`ironic.drivers.passthru`). Here a call is held against those terms,
then made: at once for a synchronous method, whose result is the answer, or on a worker. A method that needs the node
for itself gets it locked; others run while somebody else may hold it. A method that needs no node is one of the
interface that a node without a choice of its own would get (S31).
"""

import base64
import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.conductor.answering import answers
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.core.context import RequestContext
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.passthru import Terms

LOG = logging.getLogger(__name__)

# What the service itself hands to a method or to its check; an argument of that name could not get through.
_OURS: Final = frozenset({"self", "task", "context", "method", "http_method"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user called: which method, by which HTTP method, with which arguments."""

    method: str
    http_method: str
    arguments: dict[str, Any]

    @property
    def keywords(self) -> dict[str, object]:
        """All that the method is called with, by name."""
        return {**self.arguments, "http_method": self.http_method}


@answers
def vendor_methods(task: Task) -> dict[str, dict[str, object]]:
    """Return the methods of a node, each with its terms."""
    return _shown(task.vendor.vendor_routes)


@answers
def driver_vendor_methods(tasks: Tasks, context: RequestContext, hardware_type: str) -> dict[str, dict[str, object]]:
    """Return the methods that need no node, each with its terms."""
    driver = tasks.composition.default_driver(hardware_type)
    return _shown((driver.vendor or driver.refuse("vendor")).driver_routes)


@answers
def call_vendor_method(task: Task, method: str, http_method: str, arguments: dict[str, object]) -> dict[str, object]:
    """Call a method of a node; the task is shared, and made exclusive when the method wants that."""
    asked = Asked(method, http_method, arguments)
    terms = _validated(task, asked)
    if terms.get("require_exclusive_lock", True):
        task.upgrade_lock()
        # The node may have changed while nobody held it.
        terms = _validated(task, asked)
    if terms["async"]:
        task.spawn_after(_logged, f"of node {task.node.uuid}", asked.method, terms["func"], task, asked.keywords)
        return {"async": True}
    return _answer(terms, terms["func"](task, **asked.keywords))


@answers
def call_driver_vendor_method(
    tasks: Tasks,
    context: RequestContext,
    hardware_type: str,
    method: str,
    http_method: str,
    arguments: dict[str, object],
) -> dict[str, object]:
    """Call a method that needs no node."""
    driver = tasks.composition.default_driver(hardware_type)
    vendor = driver.vendor or driver.refuse("vendor")
    asked = Asked(method, http_method, arguments)
    terms = _terms(vendor.driver_routes, asked)
    _check_arguments(terms["func"], context, asked)
    vendor.driver_validate(method=asked.method, **asked.keywords)
    if terms["async"]:
        place = tasks.pool.take(f"vendor method {asked.method}")
        place.start(_logged, "of a driver", asked.method, terms["func"], context, asked.keywords)
        return {"async": True}
    return _answer(terms, terms["func"](context, **asked.keywords))


def _shown(routes: Mapping[str, Terms]) -> dict[str, dict[str, object]]:
    """Return the terms without the function, which can't travel."""
    return {name: {key: value for key, value in terms.items() if key != "func"} for name, terms in routes.items()}


def _validated(task: Task, asked: Asked) -> Terms:
    vendor = task.vendor
    terms = _terms(vendor.vendor_routes, asked)
    vendor.validate(task, method=asked.method, **asked.keywords)
    _check_arguments(terms["func"], task, asked)
    return terms


def _terms(routes: Mapping[str, Terms], asked: Asked) -> Terms:
    """Return the terms of what was called, or say why it can't be."""
    if asked.method not in routes:
        known = ", ".join(sorted(routes)) or "none"
        raise InvalidParameterValue(err=f"There is no vendor method of that name. Known ones: {known}.")
    allowed = routes[asked.method]["http_methods"]
    if asked.http_method not in allowed:
        raise InvalidParameterValue(
            err=f"Vendor method {asked.method} can't be called by {asked.http_method}, only by {', '.join(allowed)}."
        )
    if taken := sorted(_OURS.intersection(asked.arguments)):
        raise InvalidParameterValue(err=f"Vendor methods take no argument named {', '.join(taken)}.")
    return routes[asked.method]


def _check_arguments(function: Callable[..., object], first: object, asked: Asked) -> None:
    """Refuse arguments that the method does not take, or lack of those it needs."""
    try:
        inspect.signature(function).bind(first, **asked.keywords)
    except TypeError as error:
        raise InvalidParameterValue(err=f"The arguments don't fit vendor method {asked.method}: {error}.") from None


def _answer(terms: Terms, result: object) -> dict[str, object]:
    if not terms["attach"]:
        return {"async": False, "result": result}
    return {"async": False, "file": base64.b64encode(_bytes(result)).decode()}


def _bytes(result: object) -> bytes:
    """Return a result as the contents of a file."""
    if isinstance(result, bytes):
        return result
    return (result if isinstance(result, str) else json.dumps(result)).encode()


def _logged(
    whose: str, name: str, function: Callable[..., object], first: object, keywords: Mapping[str, object]
) -> None:
    """Call an asynchronous method; nobody waits for its result, so a failure is for the log."""
    try:
        function(first, **keywords)
    except Exception as error:
        LOG.error("Vendor method %s %s failed: %s", name, whose, error)

"""Call vendor methods of drivers.

A driver publishes its methods with their terms (`ironic.drivers.contract.interfaces.passthru`). A call is checked
against these terms. A synchronous method runs at once and its result is the answer, an asynchronous one runs on a
worker. A method that needs the node exclusively gets it locked, others get it shared. A method of a hardware type runs
on the interface of a node with the default interfaces (S31).
"""

import base64
import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core.context import RequestContext
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.contract.interfaces.passthru import Terms

LOG = logging.getLogger(__name__)

# Arguments that the service itself passes to a method or to its check; a user's argument can't have these names.
_RESERVED_NAMES: Final = frozenset({"self", "task", "context", "method", "http_method"})


@dataclass(frozen=True, slots=True)
class PassthruRequest:
    """A user's call: the vendor method, the HTTP method and the arguments."""

    method: str
    http_method: str
    arguments: dict[str, Any]

    @property
    def keywords(self) -> dict[str, object]:
        """Return all arguments of the method by name."""
        return {**self.arguments, "http_method": self.http_method}


@rpc_method
def vendor_methods(task: TaskManager) -> dict[str, dict[str, object]]:
    """Return the vendor methods of a node: ``{name: terms}``."""
    return _terms_as_json(task.vendor.vendor_routes)


@rpc_method
def driver_vendor_methods(
    tasks: TaskFactory, context: RequestContext, hardware_type: str
) -> dict[str, dict[str, object]]:
    """Return the vendor methods of a hardware type, which need no node: ``{name: terms}``."""
    driver = tasks.composition.default_driver(hardware_type)
    return _terms_as_json((driver.vendor or driver.refuse("vendor")).driver_routes)


@rpc_method
def call_vendor_method(
    task: TaskManager, method: str, http_method: str, arguments: dict[str, object]
) -> dict[str, object]:
    """Call a vendor method of a node; the task is shared, and made exclusive if the terms say so."""
    asked = PassthruRequest(method, http_method, arguments)
    terms = _validated(task, asked)
    if terms.get("require_exclusive_lock", True):
        task.upgrade_lock()
        # The node may have changed before the lock was taken.
        terms = _validated(task, asked)
    if terms["async"]:
        task.spawn_after(_logged, f"of node {task.node.uuid}", asked.method, terms["func"], task, asked.keywords)
        return {"async": True}
    return _answer(terms, terms["func"](task, **asked.keywords))


@rpc_method
def call_driver_vendor_method(
    tasks: TaskFactory,
    context: RequestContext,
    hardware_type: str,
    method: str,
    http_method: str,
    arguments: dict[str, object],
) -> dict[str, object]:
    """Call a vendor method of a hardware type, which needs no node."""
    driver = tasks.composition.default_driver(hardware_type)
    vendor = driver.vendor or driver.refuse("vendor")
    asked = PassthruRequest(method, http_method, arguments)
    terms = _terms(vendor.driver_routes, asked)
    _check_arguments(terms["func"], context, asked)
    vendor.driver_validate(method=asked.method, **asked.keywords)
    if terms["async"]:
        slot = tasks.pool.take(f"vendor method {asked.method}", context.project_id)
        slot.start(_logged, "of a driver", asked.method, terms["func"], context, asked.keywords)
        return {"async": True}
    return _answer(terms, terms["func"](context, **asked.keywords))


def _terms_as_json(routes: Mapping[str, Terms]) -> dict[str, dict[str, object]]:
    """Return the terms without the function, which can't be sent over RPC."""
    return {name: {key: value for key, value in terms.items() if key != "func"} for name, terms in routes.items()}


def _validated(task: TaskManager, asked: PassthruRequest) -> Terms:
    vendor = task.vendor
    terms = _terms(vendor.vendor_routes, asked)
    vendor.validate(task, method=asked.method, **asked.keywords)
    _check_arguments(terms["func"], task, asked)
    return terms


def _terms(routes: Mapping[str, Terms], asked: PassthruRequest) -> Terms:
    """Return the terms of the method, or raise InvalidParameterValue for an unknown method or a wrong call."""
    if asked.method not in routes:
        known = ", ".join(sorted(routes)) or "none"
        raise InvalidParameterValue(err=f"There is no vendor method of that name. Known vendor methods: {known}.")
    allowed = routes[asked.method]["http_methods"]
    if asked.http_method not in allowed:
        raise InvalidParameterValue(
            err=f"Vendor method {asked.method} can't be called by {asked.http_method}, only by {', '.join(allowed)}."
        )
    if taken := sorted(_RESERVED_NAMES.intersection(asked.arguments)):
        raise InvalidParameterValue(err=f"Vendor methods take no argument named {', '.join(taken)}.")
    return routes[asked.method]


def _check_arguments(function: Callable[..., object], first: object, asked: PassthruRequest) -> None:
    """Raise InvalidParameterValue for arguments that the method does not take, and for missing ones."""
    try:
        inspect.signature(function).bind(first, **asked.keywords)
    except TypeError as error:
        raise InvalidParameterValue(err=f"The arguments don't fit vendor method {asked.method}: {error}.") from None


def _answer(terms: Terms, result: object) -> dict[str, object]:
    if not terms["attach"]:
        return {"async": False, "result": result}
    if not isinstance(result, bytes):
        result = (result if isinstance(result, str) else json.dumps(result)).encode()
    return {"async": False, "file": base64.b64encode(result).decode()}


def _logged(
    whose: str, name: str, function: Callable[..., object], first: object, keywords: Mapping[str, object]
) -> None:
    """Call an asynchronous method; no caller waits for its result, so an error is only logged."""
    try:
        function(first, **keywords)
    except Exception as error:
        LOG.error("Vendor method %s %s failed: %s", name, whose, error)

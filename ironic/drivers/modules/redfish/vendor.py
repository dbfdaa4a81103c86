"""Vendor interface `redfish`: subscriptions to events of the BMC, and ejecting virtual media."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sushy import exceptions as sushy_errors

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import SubscriptionNotFound
from ironic.core.texts import syntax
from ironic.drivers.contract.interfaces import VendorInterface
from ironic.drivers.contract.interfaces.passthru import passthru
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.redfish.orders import virtual_media
from ironic.drivers.modules.redfish.tree.certainty import value_at
from ironic.drivers.modules.redfish.wire.bmc_access import access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of, optional
from ironic.drivers.modules.redfish.wire.plain_paths import end_of

LOG = logging.getLogger(__name__)

_SHOWN: Final = ("Id", "Context", "Protocol", "Destination", "EventTypes")
_ARGUMENTS: Final = frozenset({"Destination", "EventTypes", "Context", "Protocol", "HttpHeaders"})


class RedfishVendorPassthru(VendorInterface):
    """Vendor methods of Redfish machines."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Task, method: str | None = None, **kwargs: Any) -> None:
        access_of(task.node)
        if method == "create_subscription":
            _check_subscription(kwargs)
        elif method in ("delete_subscription", "get_subscription"):
            _subscription_id(kwargs)

    @passthru(
        ["POST"],
        async_call=False,
        description="Subscribes to events: Destination (required), EventTypes, Context, Protocol, HttpHeaders.",
    )
    def create_subscription(self, task: Task, **kwargs: Any) -> dict[str, Any]:
        """Create a subscription and return it."""
        payload = _check_subscription(kwargs)

        def create(system: System) -> dict[str, Any]:
            service = _event_service(system)
            allowed = value_at(service, "EventTypesForSubscription", list).shown(None)
            if allowed is not None and (wrong := [kind for kind in payload["EventTypes"] if kind not in allowed]):
                raise InvalidParameterValue(
                    err=f"The BMC of node {task.node.uuid} has no events {', '.join(wrong)}; it has "
                    f"{', '.join(map(str, allowed))}."
                )
            answer = connector_of(system).post(service.subscriptions.path, data=payload)
            location = answer.headers.get("Location")
            document = answer.document()
            if location and not document.get("Id"):
                # It is created, also where the BMC does not show it.
                named = {"Id": end_of(location), **document}
                document = optional(lambda: connector_of(system).get(location).json(), named)
            return _filtered(document)

        return change(task, "creating a subscription", create)

    @passthru(["DELETE"], async_call=False, description="Deletes a subscription: id (required).")
    def delete_subscription(self, task: Task, **kwargs: Any) -> None:
        """Delete a subscription."""
        name = _subscription_id(kwargs)

        def delete(system: System) -> None:
            path = f"{_event_service(system).subscriptions.path}/{name}"
            with _found(task, name):
                connector_of(system).delete(path)

        change(task, f"deleting subscription {name}", delete)

    @passthru(["GET"], async_call=False, description="Returns the collection of subscriptions as the BMC has it.")
    def get_all_subscriptions(self, task: Task, **kwargs: Any) -> Any:
        """Return the document of the collection."""
        return read(task, "reading the subscriptions", lambda system: _event_service(system).subscriptions.json)

    @passthru(["GET"], async_call=False, description="Returns a subscription: id (required).")
    def get_subscription(self, task: Task, **kwargs: Any) -> dict[str, Any]:
        """Return one subscription."""
        name = _subscription_id(kwargs)

        def get(system: System) -> dict[str, Any]:
            path = f"{_event_service(system).subscriptions.path}/{name}"
            with _found(task, name):
                return _filtered(connector_of(system).get(path).json())

        return read(task, f"reading subscription {name}", get)

    @passthru(
        ["POST"],
        description="Ejects virtual media: boot_device (cdrom, floppy or disk), by default all. Deprecated.",
    )
    def eject_vmedia(self, task: Task, **kwargs: Any) -> None:
        """Eject virtual media of one type or all."""
        kind = kwargs.get("boot_device")
        if kind is not None and kind not in virtual_media.MEDIA:
            names = ", ".join(virtual_media.MEDIA)
            raise InvalidParameterValue(err=f"boot_device of eject_vmedia must be one of {names}.")
        virtual_media.eject(task, None if kind is None else [virtual_media.MEDIA[kind]])


def _event_service(system: System) -> Any:
    return system.root.get_event_service()


def _check_subscription(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a new subscription, or raise InvalidParameterValue."""
    arguments = {name: value for name, value in given.items() if name != "http_method"}
    if unknown := sorted(arguments.keys() - _ARGUMENTS):
        raise InvalidParameterValue(err=f"create_subscription has no argument {', '.join(unknown)}.")
    if syntax.url_of(arguments.get("Destination"), ("http", "https", "snmp", "syslog")) is None:
        raise InvalidParameterValue(err="Destination of create_subscription must be a URL with a scheme and a host.")
    kinds = arguments.get("EventTypes", ["Alert"])
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise InvalidParameterValue(err="EventTypes of create_subscription must be a list of texts.")
    headers = arguments.get("HttpHeaders", [])
    if not isinstance(headers, list):
        raise InvalidParameterValue(err="HttpHeaders of create_subscription must be a list.")
    for name in ("Context", "Protocol"):
        if not isinstance(arguments.get(name, ""), str):
            raise InvalidParameterValue(err=f"{name} of create_subscription must be text.")
    payload = {
        "Destination": arguments["Destination"],
        "EventTypes": kinds,
        "Context": arguments.get("Context", ""),
        "Protocol": arguments.get("Protocol", "Redfish"),
    }
    return payload | ({"HttpHeaders": headers} if headers else {})


def _subscription_id(given: Mapping[str, Any]) -> str:
    """Return the id of a subscription; it becomes the last part of a path."""
    name = given.get("id")
    if not isinstance(name, str) or not name or not name.replace("-", "").replace("_", "").isalnum():
        raise InvalidParameterValue(err="id of a subscription must be text of letters, digits, - and _.")
    return name


@contextmanager
def _found(task: Task, name: str) -> Iterator[None]:
    """Raise SubscriptionNotFound where the BMC does not find what this block asks it for."""
    try:
        yield
    except sushy_errors.ResourceNotFoundError as error:
        raise SubscriptionNotFound(node=task.node.uuid, subscription=name) from error


def _filtered(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: document.get(name) for name in _SHOWN}

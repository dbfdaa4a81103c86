"""Events of other services: the network service tells that a port was bound, unbound or deleted.

Nothing waits for them here, since ports are looked at when they are needed; so an event is checked and noted in the
log.
"""

import logging
from typing import Any, Final

from ironic.api import input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.values import Array, Enum, Mac, Text, Uuid

LOG = logging.getLogger(__name__)

_EVENTS: Final = (("events", Array()),)
_KINDS: Final = Enum("network.bind_port", "network.unbind_port", "network.delete_port", name="event")
_REQUIRED: Final = (("event", _KINDS), ("port_id", Uuid()), ("mac_address", Mac()), ("status", Text()))
_OPTIONAL: Final = (("device_id", Uuid()), ("binding:host_id", Uuid()), ("binding:vnic_type", Text()))


def receive(request: Request) -> Answer:
    """Take note of events."""
    input.query(request.query(), {})
    events = input.arguments(input.require_object(request.json()), (), _EVENTS)["events"]
    if not events:
        raise InvalidParameterValue(err="events must not be empty.")
    for event in [_checked(event) for event in events]:
        LOG.info("%(event)s of port %(port_id)s, address %(mac_address)s: %(status)r.", event)
    return NO_CONTENT


def _checked(event: Any) -> dict[str, Any]:
    if not isinstance(event, dict):
        raise InvalidParameterValue(err="Each of events has to be an object.")
    return input.arguments(event, _OPTIONAL, _REQUIRED)


ROUTES = (Route("POST", "/v1/events", receive, since=54, shape=FAULT, rule="baremetal:events:post"),)

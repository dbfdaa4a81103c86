"""`/v1/events`: events of other services, with which the network service reports changes of ports.

Nothing waits for an event, because ports are read when they are needed; so an event is checked and logged.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Arguments, Body, Objects
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.values.value_types import Enum, Mac, Text, Uuid

LOG = logging.getLogger(__name__)

_EVENT: Final = Arguments(
    Argument(
        "event", Enum("network.bind_port", "network.unbind_port", "network.delete_port", name="event"), required=True
    ),
    Argument("port_id", Uuid(), required=True),
    Argument("mac_address", Mac(), required=True),
    Argument("status", Text(), required=True),
    Argument("device_id", Uuid()),
    Argument("binding:host_id", Uuid()),
    Argument("binding:vnic_type", Text()),
)


def receive(request: Request, events: Sequence[Mapping[str, object]]) -> Answer:
    """Post events of the network service."""
    for event in events:
        LOG.info("%(event)s of port %(port_id)s, address %(mac_address)s: %(status)r.", event)
    return NO_CONTENT


ROUTES = (
    Route(
        "POST",
        "/v1/events",
        receive,
        since=54,
        shape=FAULT,
        rule="baremetal:events:post",
        body=Body(Argument("events", Objects(_EVENT), required=True)),
        ok=204,
    ),
)

"""Versioned notifications about nodes and other resources, sent over the message bus.

Callers check ``NOTIFIER.on`` before they build a payload, then call ``NOTIFIER.emit``. `payloads` has the contents,
`bus_sender` the transport. Sending never blocks the caller.
"""

from ironic.rpc.notifications.notifier import END, ERROR, NOTIFIER, START, SUCCESS, Subject
from ironic.rpc.notifications.payloads import (
    NODE,
    NODE_CORRECTED_POWER,
    NODE_CRUD,
    NODE_SET_POWER,
    NODE_SET_PROVISION,
    Payload,
)

__all__ = [
    "END",
    "ERROR",
    "NODE",
    "NODE_CORRECTED_POWER",
    "NODE_CRUD",
    "NODE_SET_POWER",
    "NODE_SET_PROVISION",
    "NOTIFIER",
    "START",
    "SUCCESS",
    "Payload",
    "Subject",
]

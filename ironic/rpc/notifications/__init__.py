"""Telling the outside what happens to nodes and the things around them: versioned notifications over a message bus.

Others use `NOTICES`: ask ``NOTICES.on`` before anything is built, then tell. What is told stands in `payloads`, how it
travels in `sending`; whoever listens is never waited for.
"""

from ironic.rpc.notifications.notices import END, ERROR, NOTICES, START, SUCCESS, Subject
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
    "NOTICES",
    "START",
    "SUCCESS",
    "Payload",
    "Subject",
]

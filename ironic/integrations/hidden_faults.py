"""Faults at addresses that projects name: users read one text, so that it shows no map of a network.

The log has the reason, under the reference that stands in the text.
"""

import logging
import secrets
from typing import Final, Protocol

LOG = logging.getLogger(__name__)

NO_IMAGE: Final = "its server gives no usable answer; check the URL, or ask an operator: the log says why"


class Node(Protocol):
    """Whose a node is."""

    @property
    def owner(self) -> str | None: ...
    @property
    def lessee(self) -> str | None: ...


def hidden(text: str, place: str, reason: object) -> str:
    """Return the text with a new reference; the log gets the reason, and the place where it went wrong."""
    reference = secrets.token_hex(4)
    LOG.warning("%s, which a project names (reference %s): %s", place, reference, reason)
    return f"{text} (reference {reference})"


def image_fault(node: Node, what: str, reason: object) -> str:
    """Return what users read of an image that can't be fetched from a URL which the node gives.

    Who wrote the URL is not noted: on a node with an owner or a lessee it may have been one of them.
    """
    return hidden(NO_IMAGE, what, reason) if is_of_project(node) else str(reason)


def is_of_project(node: Node) -> bool:
    """Return whether what a node names may be the choice of a project."""
    return node.owner is not None or node.lessee is not None

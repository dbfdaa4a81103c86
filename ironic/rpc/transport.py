"""What a way of reaching conductors looks like to those who use it."""

from collections.abc import Mapping
from typing import Protocol

from ironic.core.context import RequestContext
from ironic.rpc.call import Call


class Transport(Protocol):
    """Carries calls to conductors by host name."""

    def ask(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call; return its result or raise its error, ConductorUnreachable if no answer comes."""

"""The conversation inside one process: a call is a function call in the caller's thread.

Arguments and result still pass the codec, so both sides hold copies, and code that works here works over a bus.
"""

from typing import Any

from ironic.core.call_errors import ConductorAbsent
from ironic.core.context import RequestContext
from ironic.rpc import codec
from ironic.rpc.call import Call
from ironic.rpc.conversation import ConductorCalls
from ironic.rpc.dispatcher import Dispatcher


class InProcess:
    """Transport to the conductors of this process."""

    def __init__(self) -> None:
        self._dispatchers: dict[str, Dispatcher] = {}

    def register(self, host: str, endpoint: ConductorCalls) -> None:
        """Make a conductor reachable."""
        self._dispatchers[host] = Dispatcher(host, endpoint)

    def retire(self, host: str) -> None:
        """Have a conductor begin no call any more; it needn't be there."""
        if host in self._dispatchers:
            self._dispatchers[host].retire()

    def unregister(self, host: str) -> None:
        """Take a conductor off; it needn't be there."""
        self._dispatchers.pop(host, None)

    def ask(self, host: str, context: RequestContext, call: Call, arguments: dict[str, Any]) -> Any:
        """Make one call; a call nobody waits for is made all the same, its failure only logged."""
        dispatcher = self._dispatchers.get(host)
        if dispatcher is None:
            raise ConductorAbsent(host=host, call=call.name, reason="it does not run in this process")
        envelope = dispatcher.answer(context.to_dict(), call.name, codec.copied(arguments))
        return codec.opened(envelope) if call.wait else None

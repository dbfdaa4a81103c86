"""The conversation inside one process: a call is a function call in the caller's thread.

Arguments and result still pass the codec, so both sides hold copies, and code that works here works over a bus.
"""

from collections.abc import Mapping

from ironic.core.call_errors import ConductorAbsent
from ironic.core.context import RequestContext
from ironic.core.permit import PERMIT
from ironic.rpc import codec
from ironic.rpc.call import Call
from ironic.rpc.conversation import ConductorCalls
from ironic.rpc.dispatcher import Dispatcher


class InProcess:
    """Transport to the conductors of this process."""

    def __init__(self) -> None:
        self._dispatchers: dict[str, Dispatcher] = {}

    def serve(self, host: str, endpoint: ConductorCalls) -> "Server":
        """Answer the calls for a conductor until the returned server is stopped."""
        self.register(host, endpoint)
        return Server(self, host, self._dispatchers[host])

    def register(self, host: str, endpoint: ConductorCalls) -> None:
        """Make a conductor reachable."""
        self._dispatchers[host] = Dispatcher(host, endpoint)

    def unregister(self, host: str) -> None:
        """Take a conductor off; it needn't be there."""
        self._dispatchers.pop(host, None)

    def ask(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call; a call nobody waits for is made all the same, its failure only logged."""
        # It is not known to wait: most calls only compute here. Those that ask a BMC lose the permit after a while.
        PERMIT.must_not_hurry()
        dispatcher = self._dispatchers.get(host)
        if dispatcher is None:
            raise ConductorAbsent(host=host, call=call.name, reason="it does not run in this process")
        envelope = dispatcher.answer(context.to_dict(), call.name, codec.copied(arguments))
        return codec.opened(envelope) if call.wait else None


class Server:
    """One conductor's ear in this process."""

    def __init__(self, home: InProcess, host: str, dispatcher: Dispatcher) -> None:
        self._home, self._host, self._dispatcher = home, host, dispatcher

    def retire(self) -> None:
        """Begin no call any more; those under way go on."""
        self._dispatcher.retire()

    def stop(self) -> None:
        """Take the conductor off; those who call are told so."""
        self._home.unregister(self._host)

"""RPC inside one process: a call is a function call in the caller's thread.

Arguments and result are encoded and decoded all the same: both sides have copies, and what works here works over a bus.
"""

from collections.abc import Mapping

from ironic.core.clock import CLOCK, Clock
from ironic.core.context import RequestContext
from ironic.core.errors.call_errors import ConductorAbsent
from ironic.core.permit import PERMIT
from ironic.rpc import message_format
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.rpc_api import Call, ConductorAPI


class InProcess:
    """Transport to the conductors of this process."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._dispatchers: dict[str, Dispatcher] = {}

    def serve(self, host: str, endpoint: ConductorAPI) -> "InProcessServer":
        """Make the calls for a conductor until the returned server is stopped."""
        return InProcessServer(self, host, self.register(host, endpoint))

    def has(self, host: str) -> bool:
        """Return whether a conductor is reachable here."""
        return host in self._dispatchers

    def register(self, host: str, endpoint: ConductorAPI) -> Dispatcher:
        """Make a conductor reachable, by what is returned."""
        dispatcher = self._dispatchers[host] = Dispatcher(host, endpoint, self._clock)
        return dispatcher

    def unregister(self, host: str) -> None:
        """Make a conductor unreachable, if it is known."""
        self._dispatchers.pop(host, None)

    def send(self, host: str, context: RequestContext, call: Call, arguments: Mapping[str, object]) -> object:
        """Make one call; without ``call.wait`` its result is dropped, and a failure is only logged."""
        # Most calls only compute; those that wait for a BMC lose the permit after a while.
        PERMIT.check_may_wait()
        dispatcher = self._dispatchers.get(host)
        if dispatcher is None:
            raise ConductorAbsent(host=host, call=call.name, reason="it does not run in this process")
        envelope = dispatcher.answer(context.to_dict(), call.name, message_format.json_copy(arguments))
        return message_format.result_of(envelope) if call.wait else None


class InProcessServer:
    """The RPC server of one conductor."""

    def __init__(self, home: InProcess, host: str, dispatcher: Dispatcher) -> None:
        self._home, self._host, self._dispatcher = home, host, dispatcher

    def retire(self) -> None:
        """Begin no more calls; those under way continue."""
        self._dispatcher.retire()

    def stop(self) -> None:
        """Make the conductor unreachable: callers get ConductorAbsent."""
        self._home.unregister(self._host)

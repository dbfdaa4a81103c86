"""The conductor's side of the conversation, the same for every transport: a name becomes a method of the endpoint.

What goes wrong inside becomes an envelope here, so that no transport has its own idea of an error. An exception that
is none of ours is logged with its request and reaches the caller as a plain IronicError: what broke is for the
operator's eyes.
"""

import logging
from collections.abc import Mapping
from typing import Any

from ironic.core.context import RequestContext
from ironic.core.errors import CallNotUnderstood, IronicError
from ironic.rpc import codec
from ironic.rpc.conversation import CALLS, ConductorCalls

LOG = logging.getLogger(__name__)


class Dispatcher:
    """Answers calls with one endpoint."""

    def __init__(self, host: str, endpoint: ConductorCalls) -> None:
        self._host = host
        self._endpoint = endpoint

    def answer(self, context: Mapping[str, Any], name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Do one call and return the envelope of its result or error, plain JSON; raises nothing."""
        asker = RequestContext.from_dict(context)
        try:
            return codec.result(codec.copied(self._perform(asker, name, arguments)))
        except IronicError as error:
            LOG.debug("%s (request %s) ends with %s: %s", name, asker.request_id, type(error).__name__, error)
            return codec.failure(error)
        except Exception:
            LOG.exception("%s failed, request %s, arguments %s", name, asker.request_id, _named(arguments))
            return codec.failure(IronicError(request_id=asker.request_id))

    def _perform(self, context: RequestContext, name: str, arguments: Mapping[str, Any]) -> Any:
        if name not in CALLS:
            raise CallNotUnderstood(host=self._host, call=name, reason="it is not known here")
        try:
            known = CALLS[name].arguments(**arguments)
        except TypeError as error:
            raise CallNotUnderstood(host=self._host, call=name, reason=str(error)) from None
        return getattr(self._endpoint, name)(context, **known)


def _named(arguments: Mapping[str, Any]) -> str:
    """Describe arguments for the log: what identifies something in full, of the rest (secrets!) only the names."""
    return ", ".join(f"{key}={value}" if key.endswith("_id") else key for key, value in arguments.items())

"""Where a heartbeat comes from, held against where the agent wants to be called and who was given the node's token.

An agent may have several addresses, so by default a difference is for the log only; [agent]callback_source decides.
Behind a proxy the proxy's own address is compared, unless its headers are trusted by configuration.
"""

import logging
from collections.abc import Mapping
from typing import Final

from ironic.api import ramdisk
from ironic.api.request import Request
from ironic.core.agent_memory import KnownAgent
from ironic.core.callback_urls import address_of, are_two_machines
from ironic.core.errors import InvalidParameterValue

LOG = logging.getLogger(__name__)

OFF: Final = "off"
STRICT: Final = "strict"


def check(request: Request, uuid: str, host: str | None, memory: Mapping[str, object], *, is_first: bool) -> None:
    """Log what speaks against a heartbeat, the first of an agent louder than later ones, or refuse it.

    ``host`` is where the agent wants to be called, None when it does not; ``memory`` is driver_internal_info.
    """
    mode = request.settings.ramdisk.callback_source
    objection = None if mode == OFF else _objection(ramdisk.source(request), host, KnownAgent(memory).token_source)
    if objection is None:
        return
    loud = logging.WARNING if is_first or mode == STRICT else logging.DEBUG
    LOG.log(
        loud,
        "Node %s: a heartbeat %s. If the agent has several addresses or a proxy stands in between, see "
        "[agent]callback_source and [oslo_middleware]enable_proxy_headers_parsing.",
        uuid,
        objection,
    )
    if mode == STRICT:
        raise InvalidParameterValue(err="The heartbeat does not come from where its agent is known to be.")


def _objection(source: str | None, host: str | None, token_source: str | None) -> str | None:
    if host is not None and (address_of(host) is None or address_of(host) != address_of(source)):
        return f"from {source or 'an unknown address'} names {host} as the agent's address"
    if are_two_machines(source, token_source):
        return f"comes from {source}, and the token of the agent was given to {token_source}"
    return None

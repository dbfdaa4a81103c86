"""How the agent of a node is reached: its address, its token, and what its certificate is held against.

An agent makes a certificate of its own and shows it with its first heartbeat, which its token vouches for; then this
one certificate is believed and no other. Without one, driver_info or [agent]verify_ca say whom to believe. The token
stays out of every text made here, and out of the representation of `Access`.
"""

import functools
import os
import ssl
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from oslo_utils import strutils

from ironic.conf import CONF
from ironic.core.agent_errors import AgentConnectionFailed
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.task import Node

PROPERTIES: Final = {
    "agent_verify_ca": "How the certificate of an agent is checked that brought none of its own: true, false, or the "
    "path of a CA file. The default is option [agent]verify_ca.",
}

_VERSIONS: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
_PEM: Final = "-----BEGIN "


@dataclass(frozen=True, slots=True)
class Access:
    """Everything needed to call an agent."""

    node: str
    url: SplitResult
    token: str | None = field(repr=False)
    trust: str | bool = True

    def tls(self) -> ssl.SSLContext | None:
        """Return the terms of TLS; None for plain HTTP."""
        if self.url.scheme != "https":
            return None
        return _context(self.trust, CONF.agent.tls_minimum_version, CONF.agent.tls_ciphers)


def access_of(node: Node, command: str) -> Access:
    """Return how the node's agent is reached; AgentConnectionFailed when none has called since the machine started."""
    memory = node.driver_internal_info
    address = memory.get("agent_url")
    if not address:
        raise AgentConnectionFailed(node=node.uuid, command=command, reason="no agent has sent a heartbeat yet")
    return Access(node.uuid, urlsplit(address), memory.get("agent_secret_token"), _trust(node))


def _trust(node: Node) -> str | bool:
    for said in (node.driver_internal_info.get("agent_verify_ca"), node.driver_info.get("agent_verify_ca")):
        if said not in (None, ""):
            return _read(said, "agent_verify_ca in driver_info")
    return _read(CONF.agent.verify_ca, "[agent]verify_ca")


def _read(said: Any, name: str) -> str | bool:
    """Return PEM text or the path of a file, or whether the system's authorities are asked at all."""
    text = str(said)
    if text.startswith(_PEM) or os.path.exists(text):
        return text
    try:
        return strutils.bool_from_string(text, strict=True)
    except ValueError:
        raise InvalidParameterValue(err=f"{name} must be true, false or an existing file.") from None


@functools.lru_cache(maxsize=1024)
def _context(trust: str | bool, oldest: str, ciphers: str | None) -> ssl.SSLContext:
    """Make the terms of TLS; kept, because reading certificates takes longer than a call does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = _VERSIONS[oldest]
    if ciphers:
        context.set_ciphers(ciphers)
    if trust is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif trust is True:
        context.load_default_certs()
    else:
        _believe(context, trust)
    return context


def _believe(context: ssl.SSLContext, trust: str) -> None:
    """Believe a certificate, even one that no authority has signed."""
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if trust.startswith(_PEM):
        context.load_verify_locations(cadata=trust)
    elif os.path.isdir(trust):
        context.load_verify_locations(capath=trust)
    else:
        context.load_verify_locations(cafile=trust)

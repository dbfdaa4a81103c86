"""How the agent of a node is reached: its address, its token, and what its certificate is held against.

An agent makes a certificate of its own and shows it with its first heartbeat, which its token vouches for; then this
one certificate is believed and no other. Without one, driver_info or [agent]verify_ca say whom to believe. The token
stays out of every text made here, and out of the representation of `Access`.
"""

import functools
import logging
import ssl
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ironic.conf import CONF
from ironic.core import certificates, syntax
from ironic.core.agent_errors import AgentConnectionFailed
from ironic.core.agent_memory import KnownAgent
from ironic.core.errors import InvalidParameterValue
from ironic.drivers import trusted_files
from ironic.drivers.task import Node

LOG = logging.getLogger(__name__)

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

    def tls(self) -> ssl.SSLContext:
        """Return the terms of TLS, or raise InvalidParameterValue."""
        try:
            return _context(self.trust, CONF.agent.tls_minimum_version, CONF.agent.tls_ciphers)
        except (ssl.SSLError, ValueError) as error:
            raise InvalidParameterValue(
                err=f"The certificates that the agent of node {self.node} is held against can't be used: {error}."
            ) from None


def access_of(node: Node, command: str) -> Access:
    """Return how the node's agent is reached; AgentConnectionFailed when none has called since the machine started."""
    agent = KnownAgent(node.driver_internal_info)
    if not agent.url:
        raise AgentConnectionFailed(node=node.uuid, command=command, reason="no agent has sent a heartbeat yet")
    return Access(node.uuid, urlsplit(agent.url), agent.token, _trust(node))


def _trust(node: Node) -> str | bool:
    """Return whom to believe: certificates in PEM format, a directory of such, or whether the system's are asked."""
    if brought := _brought(node):
        return brought
    said = node.driver_info.get("agent_verify_ca")
    if said not in (None, ""):
        return _read(said, "agent_verify_ca in driver_info")
    return _read(CONF.agent.verify_ca, "[agent]verify_ca")


def _brought(node: Node) -> str | None:
    """Return the agent's own certificate; what else an older service may have stored for it is passed over."""
    said = KnownAgent(node.driver_internal_info).certificate
    if said in (None, ""):
        return None
    try:
        return certificates.from_pem(str(said))
    except ValueError as error:
        LOG.warning("Node %s: the certificate that its agent brought is not used: it %s", node.uuid, error)
        return None


def _read(said: object, name: str) -> str | bool:
    text = str(said)
    if text.startswith(_PEM):
        return text
    meant = syntax.truth_of(text)
    return _of_file(text, name) if meant is None else meant


def _of_file(path: str, name: str) -> str:
    """Return the path of a directory, or what a file holds."""
    if trusted_files.is_directory(path):
        return path
    if not trusted_files.is_usable(path):
        raise InvalidParameterValue(err=f"{name} must be true, false or an existing regular file.")
    try:
        return trusted_files.read(path)
    except (OSError, ValueError) as error:
        raise InvalidParameterValue(err=f"The file of {name} can't be read: {error}.") from None


@functools.lru_cache(maxsize=128)  # agents make a certificate for each boot
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
    if trusted_files.is_directory(trust):
        context.load_verify_locations(capath=trust)
    else:
        context.load_verify_locations(cadata=trust)

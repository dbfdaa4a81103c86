"""How to reach the agent of a node: its URL, its token and the certificate to verify.

An agent generates a certificate and sends it with its first heartbeat, which its token authenticates; from then on only
this certificate is accepted. Without one, driver_info or [agent]verify_ca name the certificates to trust. The token
stays out of every text of this module and out of the representation of `Access`.
"""

import functools
import logging
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ironic.conf import CONF
from ironic.core.addresses import agent_callbacks
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import AgentConnectionFailed
from ironic.core.memory.agent_memory import KnownAgent
from ironic.core.texts import syntax
from ironic.drivers.contract.task import Node
from ironic.integrations import host_files

LOG = logging.getLogger(__name__)

_VERSIONS: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
_PEM: Final = "-----BEGIN "


@dataclass(frozen=True, slots=True)
class Access:
    """Everything needed to call an agent; ``trust`` holds certificates (PEM), a directory of them, or true or false."""

    node: str
    url: SplitResult
    token: str | None = field(repr=False)
    trust: str | bool = True

    def tls(self) -> ssl.SSLContext:
        """Return the TLS context, or raise InvalidParameterValue."""
        try:
            return _context(self.trust, CONF.agent.tls_minimum_version, CONF.agent.tls_ciphers)
        except (ssl.SSLError, ValueError) as error:
            raise InvalidParameterValue(
                err=f"The certificates to verify the agent of node {self.node} with can't be used: {error}."
            ) from None


def access_of(node: Node, command: str) -> Access:
    """Return how to reach the node's agent.

    Raise AgentConnectionFailed when no agent has sent a heartbeat since the machine was started, InvalidParameterValue
    for a wrong ``agent_verify_ca``.
    """
    agent = KnownAgent(node.driver_internal_info)
    if not agent.url:
        raise AgentConnectionFailed(node=node.uuid, command=command, reason="no agent has sent a heartbeat yet")
    return Access(node.uuid, urlsplit(agent.url), agent.token, _trust(node, agent.certificate))


def _trust(node: Node, sent: object) -> str | bool:
    """Return the certificates to trust: the agent's own, or those of driver_info, or those of the option."""
    if sent not in (None, ""):
        try:
            return agent_callbacks.certificates_from_pem(_text_of(node, str(sent)))
        except ValueError as error:
            # An older service stored what agents sent without checking it.
            LOG.warning("Node %s: the certificate that its agent sent is ignored: it %s", node.uuid, error)
        except OSError as error:
            LOG.warning("Node %s: the file with the certificate of its agent is ignored: %s", node.uuid, error)
    given = node.driver_info.get("agent_verify_ca")
    if given not in (None, ""):
        return _read(given, "agent_verify_ca in driver_info")
    return _read(CONF.agent.verify_ca, "[agent]verify_ca")


def _text_of(node: Node, sent: str) -> str:
    """Return what an agent sent, from the file in which the reference has stored it; raises OSError or ValueError."""
    path = Path(sent)
    # Only of this node: a hostile ramdisk may have sent any path to an older service.
    if path.parent == Path(CONF.agent.certificates_path) and path.name.partition(".")[0] == node.uuid:
        return host_files.read_regular_file(sent)
    return sent


def _read(given: object, name: str) -> str | bool:
    """Return a setting as certificates, the path of a directory, true or false; raise InvalidParameterValue."""
    text = str(given)
    if text.startswith(_PEM):
        return text
    if (truth := syntax.truth_of(text)) is not None:
        return truth
    if host_files.is_directory(text):
        return text
    if not host_files.is_certificate_path(text):
        raise InvalidParameterValue(err=f"{name} must be true, false or an existing regular file.")
    try:
        return host_files.read_regular_file(text)
    except (OSError, ValueError) as error:
        raise InvalidParameterValue(err=f"The file of {name} can't be read: {error}.") from None


@functools.lru_cache(maxsize=128)  # agents generate a certificate at each boot
def _context(trust: str | bool, oldest: str, ciphers: str | None) -> ssl.SSLContext:
    """Return a TLS context; cached, because loading certificates takes longer than a call does."""
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
        # Accepts a certificate that no authority has signed.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        if host_files.is_directory(trust):
            context.load_verify_locations(capath=trust)
        else:
            context.load_verify_locations(cadata=trust)
    return context

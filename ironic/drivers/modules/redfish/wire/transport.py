"""One request to one BMC, and its answer: only to the BMC itself, with an end, and of a bounded size.

At a name that a project chose, all connections go to the address that was judged first, until one fails.
"""

import json
import ssl
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin, urlsplit

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import Server, server_of
from ironic.drivers.modules.bmc.bmc_gateway import RUNNING, gateway_to
from ironic.drivers.modules.bmc.error_texts import without_passwords
from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer, unpacked
from ironic.drivers.modules.redfish.wire.bmc_failures import LostConnection, UnusableAnswer
from ironic.drivers.modules.redfish.wire.tls_terms import tls_context
from ironic.integrations import http_client
from ironic.integrations.allowed_destinations import SocketAddress, bmc_policy
from ironic.integrations.http_client import BrokenOff, CallFailed, NotAllowed, NotConnected, Terms

READS: Final = "GET"
MOST_REDIRECTS: Final = 3

_MIB: Final = 1024 * 1024
# Other redirects may turn an order into a read.
_KEEPS_ORDER: Final = (307, 308)

Headers = dict[str, str]


def _hint(error: CallFailed, access: Access) -> str:
    """Return what may help, with a mark before it."""
    if isinstance(error.__cause__, ssl.SSLCertVerificationError):
        return "; set redfish_verify_ca to the file of the authority that signed it, or to false to trust any"
    if http_client.speaks_no_tls(error.__cause__):
        return "; does the BMC want http? redfish_address has https, which is meant without a scheme too"
    if isinstance(error.__cause__, ssl.SSLError):
        return "; for an old BMC set redfish_tls_minimum_version or redfish_tls_ciphers"
    if isinstance(error, BrokenOff) and access.address.startswith("http://"):
        return "; does the BMC want https? redfish_address begins with http"
    return ""


class Transport:
    """Sends requests to one BMC, without a login of its own."""

    def __init__(self, access: Access) -> None:
        self._access = access
        server = server_of(access.address)
        if server is None:
            raise UnusableAnswer(f"{access.address} is no address of a BMC")
        self._server = server
        self.gateway = gateway_to(f"{server.scheme}://{server.netloc}")
        self._context: ssl.SSLContext | None = None
        self._pinned: dict[Server, SocketAddress] | None = {} if access.by_project else None

    def exchange(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        """Send one request and read its answer."""
        running = RUNNING.get()
        kind = running.kind
        longest: float = CONF.redfish.read_timeout if kind.is_patient else CONF.bmc.telemetry_timeout
        with self.gateway.request(running.precedence, running.seconds_left(self.gateway.clock(), longest)):
            seconds = running.seconds_left(self.gateway.clock(), longest)
            terms = Terms(
                self._tls,
                seconds=seconds,
                idle_seconds=seconds,
                connect_seconds=CONF.redfish.connect_timeout,
                most_bytes=CONF.bmc.largest_answer * _MIB,
                policy=bmc_policy(by_project=self._access.by_project),
                pinned=self._pinned,
            )
            given = {"Accept": "application/json", "Accept-Encoding": "identity", **headers}
            given |= {"OData-Version": "4.0", "Connection": "close"}
            content = None if body is None else json.dumps(body).encode()
            if content is not None:
                given["Content-Type"] = "application/json"
            try:
                with http_client.send(method, url, terms, given, content) as answer:
                    received = unpacked(answer.headers, answer.read())
                    path, is_of_order = urlsplit(url).path, method != READS
                    read = BmcAnswer(
                        answer.status, answer.headers, received, self._server, path, is_of_order=is_of_order
                    )
            except CallFailed as error:
                is_hidden = self._access.by_project and isinstance(error, NotAllowed)
                if not is_hidden and not isinstance(error, NotConnected | BrokenOff):
                    raise UnusableAnswer(str(error)) from error
                if self._pinned is not None and isinstance(error, NotConnected):
                    # The BMC may have moved.
                    self._pinned.clear()
                hint, by_project = _hint(error, self._access), self._access.by_project
                raise LostConnection(error, hint, by_project=by_project) from error
        running.take(len(read.content))
        passwords = (body.get("Password") if isinstance(body, Mapping) else None, self._access.password)
        read.secrets = tuple(each for each in passwords if isinstance(each, str))
        if read.status_code >= HTTPStatus.BAD_REQUEST:  # the library writes errors into the log
            read.content = without_passwords(read.content, *read.secrets)
        read.is_hidden = self._access.by_project
        return read

    def url(self, path: str) -> str:
        """Return the URL of a path; raise UnusableAnswer for one on another server, which would get the login."""
        base = self._access.address
        try:
            url = urljoin(f"{base}/", path)
            parts, own = urlsplit(url), urlsplit(base)
            is_own = server_of(url) == self._server and "@" not in parts.netloc
            is_secure = (own.scheme, parts.scheme) == ("http", "https") and own.hostname == parts.hostname
        except ValueError:
            is_own = is_secure = False
        if not is_own:
            if is_secure:
                raise UnusableAnswer("it leads to https; does the BMC want https? redfish_address begins with http")
            raise UnusableAnswer("it names a resource on another server, which is not read")
        return url

    def _tls(self) -> ssl.SSLContext:
        """Return the terms of TLS by the node's driver_info."""
        if self._context is None:
            self._context = tls_context(self._access)
        return self._context

    def followed(self, send: Callable[[str], BmcAnswer], url: str) -> BmcAnswer:
        """Send a request again to where the BMC redirects it, if the redirect keeps method and body."""
        for _ in range(MOST_REDIRECTS + 1):
            answer = send(url)
            target = answer.headers.get("Location")
            if answer.status_code not in _KEEPS_ORDER or not target:
                return answer
            url = self.url(urljoin(url, target))
        raise UnusableAnswer("it redirects in circles")

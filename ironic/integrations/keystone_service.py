"""A service of the operator that a group of options names, with its login: keystoneauth finds it and logs in there.

The requests go through `http_client`, so their time and their bytes are bounded. No text contains credentials.
"""

from collections.abc import Mapping
from email.message import Message
from http import HTTPStatus
from typing import Any, BinaryIO, Final, NamedTuple

from keystoneauth1 import exceptions, loading
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential, wait_fixed

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import AddressPolicy
from ironic.integrations import http_client
from ironic.integrations.http_client import NotAllowed, NotConnected
from ironic.integrations.keystone_login import KeystoneLogin, of_keystone, unusable

# The operator has named the server, so it may be anywhere that is an ordinary address.
_POLICY: Final = AddressPolicy(allows_loopback=True)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0


class Reply(NamedTuple):
    """A whole answer; names of headers are found in any case."""

    status: int
    headers: Message
    content: bytes


class KeystoneService:
    """The service of one group of options; safe to use from any thread."""

    def __init__(self, group: str) -> None:
        """Read the options; raises CallFailed when they name no usable credentials."""
        self._group, self._login = group, KeystoneLogin(group)
        try:
            self._adapter: Any = loading.load_adapter_from_conf_options(
                CONF, group, session=self._login.session, auth=self._login.auth
            )
        except (exceptions.ClientException, ValueError) as error:
            raise unusable(group, error) from error

    def endpoint(self) -> str:
        """Return the URL of the service, without a slash at its end; raises CallFailed."""
        try:
            found = self._adapter.get_endpoint() if self._login.auth or self._adapter.endpoint_override else None
        except exceptions.ClientException as error:
            raise of_keystone(error) from error
        if not found:
            raise NotAllowed(f"its URL is not known; set [{self._group}]endpoint_override")
        return str(found).rstrip("/")

    def call(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | BinaryIO | None = None,
        *,
        most_bytes: int,
        seconds: float,
        idle_seconds: float,
        connect_retries: int = 0,
    ) -> Reply:
        """Send a request and return its answer; raises CallFailed.

        It is sent again, with a new login, when a token is not valid any more, and after a lost connection as often as
        ``connect_retries`` says.
        """
        terms = http_client.Terms(
            tls=self._login.tls_context,
            seconds=seconds,
            idle_seconds=idle_seconds,
            most_bytes=most_bytes,
            follows_redirects=False,
            proxy=http_client.environment_proxy,
            trusts_proxies=True,
            policy=_POLICY,
        )
        delay = CONF[self._group].connect_retry_delay
        attempts = Retrying(
            stop=stop_after_attempt(connect_retries + 1),
            wait=wait_exponential(_FIRST_PAUSE, _LONGEST_PAUSE) if delay is None else wait_fixed(delay),
            retry=retry_if_exception_type(NotConnected),
            reraise=True,
        )

        def sent() -> Reply:
            if body is not None and not isinstance(body, bytes):
                body.seek(0)
            with http_client.send(method, url, terms, {**headers, **self._login.headers()}, body) as answer:
                return Reply(answer.status, answer.headers, answer.read())

        reply = attempts(sent)
        if reply.status == HTTPStatus.UNAUTHORIZED and self._login.renew():
            reply = attempts(sent)
        return reply

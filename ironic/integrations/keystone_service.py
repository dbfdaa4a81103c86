"""A service of the operator that a group of options names, with its login: keystoneauth finds it and logs in there.

The requests go through `http_client`, so their time and their bytes are bounded. No text contains credentials.
"""

import ssl
from collections.abc import Mapping
from email.message import Message
from http import HTTPStatus
from typing import Any, BinaryIO, Final, NamedTuple

from keystoneauth1 import exceptions, loading
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential, wait_fixed

from ironic.conf import CONF
from ironic.core.allowed_addresses import AddressPolicy
from ironic.core.syntax import plain_text
from ironic.integrations import host_files, http_client
from ironic.integrations.http_client import CallFailed, NotAllowed, NotConnected

# The operator has named the server, so it may be anywhere that is an ordinary address.
_POLICY: Final = AddressPolicy(allows_loopback=True)
_LONGEST_TEXT: Final = 500
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
        self._group = group
        # Opening a pipe would wait for ever.
        for option in ("cafile", "certfile", "keyfile"):
            if (path := CONF[group][option]) and not host_files.is_certificate_path(path):
                raise CallFailed(f"[{group}]{option} is no regular file")
        try:
            self._auth = loading.load_auth_from_conf_options(CONF, group)
            self._session: Any = loading.load_session_from_conf_options(CONF, group, auth=self._auth)
            self._adapter = loading.load_adapter_from_conf_options(CONF, group, session=self._session, auth=self._auth)
        except (exceptions.ClientException, ValueError) as error:
            raise CallFailed(f"options of [{group}]: {plain_text(str(error), _LONGEST_TEXT)}") from error

    def endpoint(self) -> str:
        """Return the URL of the service, without a slash at its end; raises CallFailed."""
        try:
            found = self._adapter.get_endpoint() if self._auth or self._adapter.endpoint_override else None
        except exceptions.ClientException as error:
            raise _of_keystone(error) from error
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
            tls=self._tls_context,
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
            with http_client.send(method, url, terms, {**headers, **self._login()}, body) as answer:
                return Reply(answer.status, answer.headers, answer.read())

        reply = attempts(sent)
        if reply.status == HTTPStatus.UNAUTHORIZED and self._auth is not None and self._session.invalidate(self._auth):
            reply = attempts(sent)
        return reply

    def _login(self) -> dict[str, str]:
        try:
            return {} if self._auth is None else dict(self._session.get_auth_headers(self._auth) or {})
        except exceptions.ClientException as error:
            raise _of_keystone(error) from error

    def _tls_context(self) -> ssl.SSLContext:
        """Return a TLS context by the options of keystoneauth: `cafile`, `insecure`, `certfile` and `keyfile`."""
        options = CONF[self._group]
        try:
            context = ssl.create_default_context(cafile=options.cafile)
            if options.insecure:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if options.certfile:
                context.load_cert_chain(options.certfile, options.keyfile)
        except OSError as error:
            raise NotAllowed(f"a certificate of [{self._group}] can't be read") from error
        return context


def _of_keystone(error: exceptions.ClientException) -> CallFailed:
    return CallFailed(f"keystone: {plain_text(str(error), _LONGEST_TEXT)}")

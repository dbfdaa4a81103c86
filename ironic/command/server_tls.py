"""TLS of a listening socket: its certificate, which is replaced while clients are in their handshake.

A client that sends a request without TLS gets an answer that says so.
"""

import logging
import os
import ssl
from dataclasses import dataclass
from typing import Final

from ironic.command.http_connection import head

LOG = logging.getLogger(__name__)

# OpenSSL itself knows only half of them.
_METHODS: Final = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"OPTIONS ")
_HINT: Final = b"This port speaks TLS: use https.\n"
_PLAIN_HEADERS: Final = (("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(_HINT))))


class _Connection(ssl.SSLObject):
    """The server's end of a connection."""

    incoming: ssl.MemoryBIO
    outgoing: ssl.MemoryBIO
    # None until the client has sent enough to know it.
    _is_plain: bool | None = None

    def do_handshake(self) -> None:
        """Go on with the handshake; a request without TLS is answered, and nothing of it is read."""
        if self._is_plain is None and (first := self.incoming.read()):
            self.incoming.write(first)
            if any(method.startswith(first) for method in _METHODS):
                raise ssl.SSLWantReadError
            self._is_plain = first.startswith(_METHODS)
            if self._is_plain:
                self.outgoing.write(head("400 Bad Request", _PLAIN_HEADERS, keep_alive=False) + _HINT)
        if not self._is_plain:
            super().do_handshake()
            return
        # Closing now would reset the connection before the client has the answer; the time for handshakes ends it.
        self.incoming.read()
        raise ssl.SSLWantReadError


class _Context(ssl.SSLContext):
    """What connections are made with."""

    sslobject_class: type[ssl.SSLObject] = _Connection

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> _Connection:
        """Return a connection that knows its two buffers."""
        made = super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
        assert isinstance(made, _Connection)
        made.incoming, made.outgoing = incoming, outgoing
        return made


@dataclass(frozen=True)
class Tls:
    """The TLS settings of the server."""

    certificate: str
    key: str
    minimum_version: str = "1.3"
    ciphers: str | None = None

    group: str = "api"

    def context(self) -> ssl.SSLContext:
        """Return a context with the certificate; raises ValueError, with files and options, if it can't be used."""
        context = _Context(ssl.PROTOCOL_TLS_SERVER)
        try:
            # Opening a pipe would wait for ever.
            for path in (self.certificate, self.key):
                if os.path.exists(path) and not os.path.isfile(path):
                    raise ValueError(f"{path} is no regular file")
            # Without a password, a key that needs one would be asked for at the terminal.
            context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ValueError) as error:
            raise ValueError(
                f"the certificate {self.certificate} ([{self.group}]cert_file) and the key {self.key} "
                f"([{self.group}]key_file) can't be used: {_reason(error)}"
            ) from error
        versions = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
        context.minimum_version = versions[self.minimum_version]
        context.options |= ssl.OP_NO_RENEGOTIATION
        if self.ciphers:
            try:
                context.set_ciphers(self.ciphers)
            except ssl.SSLError:
                option = "tls_ciphers" if self.group == "vnc" else "server_tls_ciphers"
                raise ValueError(f"OpenSSL knows no cipher of [{self.group}]{option} = {self.ciphers}") from None
        return context


class ServerTls:
    """The context of a listening socket; each handshake uses the certificate that was read last.

    A certificate is never loaded into a context in use: a handshake that begins between its two files would fail.
    """

    def __init__(self, settings: Tls) -> None:
        self._settings = settings
        self.context = self._newest = settings.context()
        # OpenSSL asks whether a client names a host or not.
        self.context.sni_callback = self._hand_over

    def _hand_over(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._newest

    def renew(self) -> None:
        """Use the certificate and key that the files have now for the handshakes from now on.

        A pair that can't be used is logged, and the present one stays.
        """
        group = self._settings.group
        try:
            self._newest = self._settings.context()
        except ValueError as error:
            LOG.error("The [%s] server goes on with the certificate that it has: %s", group, error)
            return
        LOG.info("The [%s] server has read its certificate again, from %s", group, self._settings.certificate)


def _reason(error: Exception) -> str:
    """Return what is wrong with a certificate or its key."""
    if not isinstance(error, ssl.SSLError):
        return (isinstance(error, OSError) and error.strerror) or str(error)
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the key belongs to another certificate"
    return "one of the files does not have it in PEM format, or the key needs a password"

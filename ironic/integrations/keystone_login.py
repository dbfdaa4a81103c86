"""The login and the TLS of a client, by the options of keystoneauth in a group: headers of requests, and certificates.

No text contains credentials.
"""

import ssl
from typing import Any, Final

from keystoneauth1 import exceptions, loading

from ironic.conf import CONF
from ironic.core.texts.syntax import plain_text
from ironic.integrations import host_files
from ironic.integrations.http_client import CallFailed, NotAllowed

_LONGEST_TEXT: Final = 500


class KeystoneLogin:
    """The login of one group of options; safe to use from any thread."""

    def __init__(self, group: str, usual: str | None = None) -> None:
        """Read the options; ``usual`` is the auth_type where none is set, None: there is no login.

        Raises CallFailed when they name no usable credentials.
        """
        self._group = group
        # Opening a pipe would wait for ever.
        for option in ("cafile", "certfile", "keyfile"):
            if (path := CONF[group][option]) and not host_files.is_certificate_path(path):
                raise CallFailed(f"[{group}]{option} is no regular file")
        try:
            self.auth: Any = loading.load_auth_from_conf_options(CONF, group)
            if self.auth is None and usual:
                CONF.register_opts(loading.get_auth_plugin_conf_options(usual), group=group)
                loader: Any = loading.get_plugin_loader(usual)
                self.auth = loader.load_from_options_getter(lambda option: CONF[group][option.dest])
            self.session: Any = loading.load_session_from_conf_options(CONF, group, auth=self.auth)
        except (exceptions.ClientException, ValueError) as error:
            raise unusable(group, error) from error

    def headers(self) -> dict[str, str]:
        """Return the headers of a request that show who sends it; raises CallFailed if Keystone gives no token."""
        try:
            return {} if self.auth is None else dict(self.session.get_auth_headers(self.auth) or {})
        except exceptions.ClientException as error:
            raise of_keystone(error) from error

    def renew(self) -> bool:
        """Drop the token, which was refused; return whether there was one, so that the next headers may be accepted."""
        return self.auth is not None and bool(self.session.invalidate(self.auth))

    def tls_context(self) -> ssl.SSLContext:
        """Return a TLS context by `cafile`, `insecure`, `certfile` and `keyfile`; raises NotAllowed."""
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


def unusable(group: str, error: Exception) -> CallFailed:
    """Return the error of a group whose options can't be used."""
    return CallFailed(f"options of [{group}]: {plain_text(str(error), _LONGEST_TEXT)}")


def of_keystone(error: exceptions.ClientException) -> CallFailed:
    """Return the error of a service whose login failed."""
    return CallFailed(f"keystone: {plain_text(str(error), _LONGEST_TEXT)}")

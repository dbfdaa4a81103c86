"""Web servers of images: HTTP requests with the configured credentials, proxies and terms of TLS.

The credentials of [deploy]image_server_user are sent to the servers of image_server_auth_hosts only; without such a
list to none, unless image_server_auth_permit_unknown_hosts is on. Credentials in an instance_info are for the agent,
which downloads the image itself.
"""

import logging
import os
import ssl
from collections.abc import Mapping
from typing import Final

import certifi

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import Server, is_among
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.texts import syntax
from ironic.integrations import disk_space, host_files, http_client
from ironic.integrations.http_client import Answer, Login, Terms

LOG = logging.getLogger(__name__)

BASIC: Final = "http_basic"

_STRATEGY: Final = "image_server_auth_strategy"
_VERSIONS: Final = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
_CREDENTIALS: Final = ("image_server_user", "image_server_password")
_UNREADABLE: Final = "the file of [DEFAULT]webserver_verify_ca can't be read"


def get(url: str, headers: Mapping[str, str] | None = None, most_bytes: int | None = None) -> Answer:
    """Request a file and return the answer, whose body the caller reads in pieces; raises CallFailed.

    Without ``most_bytes`` the limit is the largest size of an image.
    """
    terms = Terms(
        tls=tls_context,
        seconds=CONF.outgoing.download_timeout,
        idle_seconds=CONF.webserver_connection_timeout,
        most_bytes=most_bytes or disk_space.most_bytes(),
        login=_login,
        proxy=http_client.environment_proxy,
        trusts_proxies=True,
    )
    return http_client.get(url, terms, headers)


def check(node_uuid: str, instance_info: Mapping[str, object]) -> None:
    """Raise when the credentials for the agent in an instance_info are incomplete or the strategy is unknown."""
    strategy = instance_info.get(_STRATEGY)
    if strategy not in (None, "", "noauth", BASIC):
        raise InvalidParameterValue(
            err=f"{_STRATEGY} of node {node_uuid} is {str(strategy)[:64]!r}; it may be noauth or {BASIC}."
        )
    if strategy == BASIC and not all(instance_info.get(name) for name in _CREDENTIALS):
        raise MissingParameterValue(err=f"Node {node_uuid} needs {' and '.join(_CREDENTIALS)} in its instance_info.")


def for_agent(instance_info: Mapping[str, object]) -> dict[str, object]:
    """Return the credentials in an instance_info in the form that the agent expects; empty without any."""
    if instance_info.get(_STRATEGY) != BASIC:
        return {}
    return {name: instance_info.get(name) for name in (_STRATEGY, *_CREDENTIALS)}


def warn_of_unknown_hosts() -> None:
    """Log a warning when the options send the credentials to any server that a user names, or to none."""
    options = CONF.deploy
    if options.image_server_auth_strategy != BASIC or options.image_server_auth_hosts:
        return
    if not options.image_server_auth_permit_unknown_hosts:
        LOG.warning(
            "The credentials of [deploy]image_server_user are sent to no web server, because "
            "[deploy]image_server_auth_hosts names none. Name the servers of images that may get them."
        )
    else:
        LOG.warning(
            "The credentials of [deploy]image_server_user are sent to every web server that a user names in the URL of "
            "an image. Name the servers that may get them in [deploy]image_server_auth_hosts."
        )


def _login(server: Server) -> Login | None:
    options = CONF.deploy
    if options.image_server_auth_strategy != BASIC:
        return None
    hosts = options.image_server_auth_hosts
    if not (is_among(server, hosts) if hosts else options.image_server_auth_permit_unknown_hosts):
        return None
    return Login(options.image_server_user or "", options.image_server_password or "")


def tls_context() -> ssl.SSLContext:
    """Return a TLS context that verifies servers as the options webserver_* of [DEFAULT] say; raises CallFailed."""
    context = _verifying_context()
    context.minimum_version = _VERSIONS[CONF.webserver_tls_minimum_version]
    if CONF.webserver_tls_ciphers:
        try:
            context.set_ciphers(CONF.webserver_tls_ciphers)
        except ssl.SSLError as error:
            raise http_client.CallFailed("no cipher of [DEFAULT]webserver_tls_ciphers is known") from error
    return context


def _verifying_context() -> ssl.SSLContext:
    option = str(CONF.webserver_verify_ca)
    is_checked = syntax.truth_of(option)
    authorities = option if is_checked is None else certifi.where()
    if is_checked is False:
        unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
        return unverified
    # Opening a pipe would wait for ever.
    if not host_files.is_certificate_path(authorities):
        raise http_client.CallFailed(_UNREADABLE)
    try:
        if os.path.isdir(authorities):
            return ssl.create_default_context(capath=authorities)
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise http_client.CallFailed(_UNREADABLE) from error

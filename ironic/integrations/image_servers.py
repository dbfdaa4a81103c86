"""Web servers that images come from: how they are asked, and how it is proved to them that one may have an image.

Credentials of [deploy]image_server_user go to the servers of image_server_auth_hosts and to no others. Without such a
list image_server_auth_permit_unknown_hosts decides. Those of an instance are for the agent, which fetches its image.
"""

import logging
import os
import ssl
from collections.abc import Mapping
from typing import Final

import certifi

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.servers import Server, is_among
from ironic.integrations import disk_room, outgoing
from ironic.integrations.outgoing import Answer, Login, Terms

LOG = logging.getLogger(__name__)

BASIC: Final = "http_basic"

_STRATEGY: Final = "image_server_auth_strategy"
_CREDENTIALS: Final = ("image_server_user", "image_server_password")


def get(url: str, headers: Mapping[str, str] | None = None, most_bytes: int | None = None) -> Answer:
    """Ask a server for a file; what comes is read by the caller, in pieces. Raises outgoing.CallFailed.

    Without ``most_bytes`` the file is an image, and as large as images may be.
    """
    terms = Terms(
        tls=trust,
        seconds=CONF.outgoing.download_timeout,
        idle_seconds=CONF.webserver_connection_timeout,
        most_bytes=most_bytes or disk_room.most_bytes(),
        login=_login,
        proxy=outgoing.environment_proxy,
        trusts_proxies=True,
    )
    return outgoing.get(url, terms, headers)


def check(node_uuid: str, instance_info: Mapping[str, object]) -> None:
    """Raise when an instance says half of how the agent is to prove that it may have the image."""
    strategy = instance_info.get(_STRATEGY)
    if strategy not in (None, "", "noauth", BASIC):
        raise InvalidParameterValue(
            err=f"{_STRATEGY} of node {node_uuid} is {str(strategy)[:64]!r}; it may be noauth or {BASIC}."
        )
    if strategy == BASIC and not all(instance_info.get(name) for name in _CREDENTIALS):
        raise MissingParameterValue(err=f"Node {node_uuid} needs {' and '.join(_CREDENTIALS)} in its instance_info.")


def for_agent(instance_info: Mapping[str, object]) -> dict[str, object]:
    """Return what an instance says about that, as the agent wants it."""
    if instance_info.get(_STRATEGY) != BASIC:
        return {}
    return {name: instance_info.get(name) for name in (_STRATEGY, *_CREDENTIALS)}


def warn_of_unknown_hosts() -> None:
    """Say it when credentials go to whatever server a user names."""
    options = CONF.deploy
    permitted = options.image_server_auth_permit_unknown_hosts and not options.image_server_auth_hosts
    if options.image_server_auth_strategy == BASIC and permitted:
        LOG.warning(
            "Every web server that a user names as the place of an image is shown the credentials of "
            "[deploy]image_server_user. Name the servers that may see them in [deploy]image_server_auth_hosts."
        )


def _login(server: Server) -> Login | None:
    options = CONF.deploy
    if options.image_server_auth_strategy != BASIC:
        return None
    hosts = options.image_server_auth_hosts
    if not (is_among(server, hosts) if hosts else options.image_server_auth_permit_unknown_hosts):
        return None
    return Login(options.image_server_user or "", options.image_server_password or "")


def trust() -> ssl.SSLContext:
    """Return the terms of TLS with web servers: whose certificates are believed."""
    said = str(CONF.webserver_verify_ca)
    is_checked = syntax.truth_of(said)
    authorities = said if is_checked is None else certifi.where()
    if is_checked is False:
        careless = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
        return careless
    try:
        if os.path.isdir(authorities):
            return ssl.create_default_context(capath=authorities)
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise outgoing.CallFailed("the file of [DEFAULT]webserver_verify_ca can't be read") from error

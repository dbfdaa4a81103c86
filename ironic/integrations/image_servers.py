"""Web servers that images come from: how they are asked, and how it is proved to them that one may have an image.

Credentials of [deploy]image_server_user go to the hosts of image_server_auth_hosts, and to others only where
image_server_auth_permit_unknown_hosts allows that. Those of an instance are for the agent, which fetches its image.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from oslo_utils import strutils

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, MissingParameterValue

BASIC: Final = "http_basic"

_STRATEGY: Final = "image_server_auth_strategy"
_CREDENTIALS: Final = ("image_server_user", "image_server_password")


def get(url: str, headers: Mapping[str, str] | None = None) -> requests.Response:
    """Ask a server for a file; what comes is read by the caller, in pieces. Raises requests.RequestException."""
    return requests.get(
        url,
        headers=dict(headers or {}),
        auth=_credentials(urlsplit(url).hostname),
        verify=authorities(),
        stream=True,
        timeout=CONF.webserver_connection_timeout,
    )


def check(node_uuid: str, instance_info: Mapping[str, Any]) -> None:
    """Raise when an instance says half of how the agent is to prove that it may have the image."""
    strategy = instance_info.get(_STRATEGY)
    if strategy not in (None, "", "noauth", BASIC):
        raise InvalidParameterValue(
            err=f"{_STRATEGY} of node {node_uuid} is {str(strategy)[:64]!r}; it may be noauth or {BASIC}."
        )
    if strategy == BASIC and not all(instance_info.get(name) for name in _CREDENTIALS):
        raise MissingParameterValue(err=f"Node {node_uuid} needs {' and '.join(_CREDENTIALS)} in its instance_info.")


def for_agent(instance_info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an instance says about that, as the agent wants it."""
    if instance_info.get(_STRATEGY) != BASIC:
        return {}
    return {name: instance_info.get(name) for name in (_STRATEGY, *_CREDENTIALS)}


def _credentials(host: str | None) -> tuple[str, str] | None:
    options = CONF.deploy
    if options.image_server_auth_strategy != BASIC:
        return None
    if host not in options.image_server_auth_hosts and not options.image_server_auth_permit_unknown_hosts:
        return None
    return options.image_server_user or "", options.image_server_password or ""


def authorities() -> str | bool:
    """Return whether certificates are checked, or the file of the authorities that are believed."""
    said = str(CONF.webserver_verify_ca)
    try:
        return strutils.bool_from_string(said, strict=True)
    except ValueError:
        return said

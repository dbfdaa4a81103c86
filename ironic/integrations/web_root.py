"""The URL of [deploy]http_root, under which machines and BMCs download what the service publishes there.

A web server of the operator serves the directory at [deploy]http_url. Where none is named, the conductor's own server
(`ironic.command.file_server`) does, and its process states the URL here while it serves. URLs have no slash at their
end.
"""

from collections.abc import Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.texts import syntax

# What a message advises when the directory is not served.
REMEDY: Final = (
    "set [deploy]http_url to the URL at which a web server serves [deploy]http_root, or see in the log why the "
    "conductor's own server does not"
)

EXTERNAL: Final = "external_http_url"


class OwnServer:
    """Where the conductor's own server answers; None while it does not."""

    url: str | None = None


def announce(url: str | None) -> None:
    """State where the conductor's own server answers, or that it does not any more."""
    OwnServer.url = url


def url() -> str:
    """Return the URL for machines; empty when nothing serves the directory."""
    return str(CONF.deploy.http_url or OwnServer.url or "").rstrip("/")


def url_for_bmc(driver_info: Mapping[str, object]) -> str:
    """Return the URL for the BMC of a node; empty when nothing serves the directory.

    Raises InvalidParameterValue for a node whose own URL is none.
    """
    own = driver_info.get(EXTERNAL)
    if own is None:
        return str(CONF.deploy.external_http_url or "").rstrip("/") or url()
    if not (syntax.url_of(own, ("http", "https")) and str(own).isprintable() and " " not in str(own)):
        raise InvalidParameterValue(err=f"{EXTERNAL} in driver_info must be a URL of http or https.")
    return str(own).rstrip("/")

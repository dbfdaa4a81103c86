"""How to reach the Redfish BMC of a node: driver_info, checked, with defaults from [redfish].

Secrets stay out of every text of this module and out of the representation of `Access`. An address is refused when it
contains a login.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.addresses.bmc_hosts import is_by_project
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.missing_keys import missing_keys
from ironic.core.keys.info_keys import Holds, Property
from ironic.core.texts import syntax
from ironic.drivers.contract.task import Node
from ironic.integrations import host_files

AUTH_TYPES: Final = ("auto", "session", "basic")
TLS_VERSIONS: Final = ("1.1", "1.2", "1.3")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {"auth_type": AUTH_TYPES, "tls_minimum_version": TLS_VERSIONS}
# The path of the service root, unless the address has one.
ROOT: Final = "/redfish/v1/"
_NO_PATH: Final = re.compile(r"[^A-Za-z0-9._~!$&'()*+,;=:@%/-]|//|/\.\.?/")

PROPERTIES: Final[Mapping[str, Property]] = {
    "redfish_address": Property(
        Holds.ADDRESS,
        "Address of the BMC as a URL; https is assumed where no scheme is given. A path replaces "
        "/redfish/v1 as the path of the service root. Required.",
    ),
    "redfish_system_id": Property(
        Holds.MACHINE,
        "Path of the machine's system resource, such as /redfish/v1/Systems/1. Needed only where the "
        "BMC has several systems.",
    ),
    "redfish_username": Property(Holds.LOGIN, "User name for the BMC."),
    "redfish_password": Property(
        Holds.SECRET,
        "Password of that user; without a user name, the password of a user with an empty name.",
    ),
    "redfish_verify_ca": Property(
        Holds.TRUST,
        "How the BMC's certificate is checked: true, false, or the path of a CA file or directory. "
        "The default is option [redfish]verify_ca, or else true.",
    ),
    "redfish_auth_type": Property(
        Holds.SETTING,
        "How to log in: basic, session, or auto, which tries a session first. The default is option "
        "[redfish]auth_type.",
    ),
    "redfish_tls_minimum_version": Property(
        Holds.PLACE,
        "Oldest TLS version to accept: 1.1, 1.2 or 1.3. The default is option [redfish]tls_minimum_version.",
    ),
    "redfish_tls_ciphers": Property(
        Holds.PLACE,
        "TLS ciphers to accept, in OpenSSL's notation. The default is option [redfish]tls_ciphers.",
    ),
}


@dataclass(frozen=True, slots=True)
class Access:
    """Everything needed to reach one system of a BMC."""

    address: str
    system_id: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    verify: bool | str = True
    auth_type: str = "auto"
    tls_minimum_version: str | None = None
    tls_ciphers: str | None = None
    root_prefix: str = ROOT
    # A project has chosen the address, so its errors don't say what is there.
    by_project: bool = False

    @property
    def has_login(self) -> bool:
        """Whether the BMC wants a login."""
        return bool(self.username or self.password)

    @property
    def key(self) -> tuple[str, str, str | None, bool]:
        """The key of a cached connection: a chassis may have the service roots of its machines at one address."""
        return self.address, self.root_prefix, self.username, self.by_project


def access_of(node: Node) -> Access:
    """Return how to reach the node's BMC; raise InvalidParameterValue or MissingParameterValue for driver_info."""
    if not node.driver_info.get("redfish_address"):
        raise missing_keys(node.uuid, "driver_info", ["redfish_address"], node.driver_info, PROPERTIES)
    by_project = is_by_project("redfish_", node.driver_internal_info)
    return access_by(node.driver_info, f" in the driver_info of node {node.uuid}", by_project=by_project)


def access_by(given: Mapping[str, object], place: str = "", *, by_project: bool = False) -> Access:
    """Return how to reach a BMC by the keys that driver_info has; raise InvalidParameterValue with their ``place``."""
    text: dict[str, Any] = {name.removeprefix("redfish_"): given.get(name) for name in PROPERTIES}
    verify = text.pop("verify_ca")
    for name, value in text.items():
        if not (value is None or isinstance(value, str)):
            raise _wrong(name, place, "must be text")
    for name, choices in _CHOICES.items():
        text[name] = text[name] or CONF.redfish[name]
        if text[name] is not None and text[name] not in choices:
            raise _wrong(name, place, f"must be one of {', '.join(choices)}")
    address, root_prefix = _address(text["address"] or "", place)
    return Access(
        address=address,
        root_prefix=root_prefix,
        system_id=_system_id(text["system_id"], place),
        username=text["username"] or None,
        password=text["password"],
        verify=_verify(CONF.redfish.verify_ca if verify is None else verify, place),
        auth_type=text["auth_type"] or "auto",
        tls_minimum_version=text["tls_minimum_version"],
        tls_ciphers=text["tls_ciphers"] or CONF.redfish.tls_ciphers,
        by_project=by_project,
    )


def _wrong(name: str, place: str, reason: str) -> InvalidParameterValue:
    """Return the error; it does not quote the value, which may be a misplaced secret."""
    return InvalidParameterValue(err=f"redfish_{name}{place} {reason}.")


def _address(text: str, place: str) -> tuple[str, str]:
    """Return scheme, host and port of the BMC, and the path of its service root.

    https is the default scheme, a bare IPv6 address is allowed, and query and fragment have no meaning.
    """
    text = text.strip()
    try:
        if "://" not in text:
            try:
                bare = ipaddress.ip_address(text)
            except ValueError:
                text = f"https://{text}"
            else:
                text = f"https://[{bare}]" if bare.version == 6 else f"https://{bare}"
        url = urlsplit(text)
        host, port = url.hostname, url.port
    except ValueError:
        raise _wrong("address", place, "is no URL") from None
    if url.scheme not in ("http", "https") or not host:
        raise _wrong("address", place, "must be an http or https URL with a host name or IP address")
    if url.username is not None or url.password is not None:
        raise _wrong("address", place, "must not hold a login; use redfish_username and redfish_password")
    prefix = f"{url.path.rstrip('/')}/" if url.path.strip("/") else ROOT
    if _NO_PATH.search(prefix):
        raise _wrong("address", place, "has a path with characters that no path has")
    return f"{url.scheme}://{syntax.host_in_url(host)}" + (f":{port}" if port else ""), prefix


def _system_id(path: str | None, place: str) -> str | None:
    if not path:
        return None
    try:
        parts = urlsplit(path)
    except ValueError:
        raise _wrong("system_id", place, "is no path") from None
    # An absolute URL here would send the login to another host.
    if parts.scheme or parts.netloc or parts.query or parts.fragment:
        raise _wrong("system_id", place, "must be the path of a resource on the BMC, such as /redfish/v1/Systems/1")
    return path


def _verify(given: object, place: str) -> bool | str:
    """Return whether the certificate is verified, or the path of the certificates to verify it with."""
    if given is None or isinstance(given, bool):
        return given is not False
    if not isinstance(given, str):
        raise _wrong("verify_ca", place, "must be true, false or a path")
    if (truth := syntax.truth_of(given)) is not None:
        return truth
    if host_files.is_certificate_path(given):
        return given
    raise _wrong("verify_ca", place, "is neither true nor false nor an existing regular file or directory")

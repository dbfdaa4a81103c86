"""How to reach the IPMI BMC of a node: driver_info, checked.

Whatever driver_info holds becomes an argument of a program, so each value must have the form of what it stands for.
Secrets stay out of every text of this module and out of the representation of `Access`.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ironic.core.addresses.bmc_hosts import is_by_project
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.missing_keys import missing_keys
from ironic.core.keys.info_keys import Holds, Property
from ironic.core.texts import syntax
from ironic.drivers.contract.task import Node

PRIVILEGES: Final = ("ADMINISTRATOR", "CALLBACK", "OPERATOR", "USER")
# ipmitool's name of the protocol by version.
PROTOCOLS: Final = {"2.0": "lanplus", "1.5": "lan"}
USUAL_PORT: Final = 623

# Also of passwords in version 1.5. Of longer ones in version 2.0 ipmitool and the BMC take the first 20 bytes.
_LONGEST_USERNAME: Final = 16
_LONGEST_PASSWORD: Final = 255
_LONGEST_KEY: Final = 20
_BYTE: Final = re.compile(r"0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3}")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")

# The keys of bridging with ipmitool's options, in the order of its arguments.
_BRIDGING: Final = {
    "local_address": "-m",
    "transit_channel": "-B",
    "transit_address": "-T",
    "target_channel": "-b",
    "target_address": "-t",
}
_TARGET: Final = ("target_channel", "target_address")
_TRANSIT: Final = ("transit_channel", "transit_address")
# Which of them each kind of bridging needs.
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {"no": (), "single": _TARGET, "dual": (*_TARGET, *_TRANSIT)}

PROPERTIES: Final[Mapping[str, Property]] = {
    "ipmi_address": Property(Holds.ADDRESS, "IP address or host name of the BMC. Required."),
    "ipmi_port": Property(Holds.PLACE, "UDP port of the BMC, 623 by default."),
    "ipmi_username": Property(
        Holds.LOGIN,
        "User name for the BMC, 16 bytes at most; without one, the user with an empty name.",
    ),
    "ipmi_password": Property(Holds.SECRET, "Password of that user; without one, an empty password."),
    "ipmi_hex_kg_key": Property(
        Holds.SECRET,
        "The BMC's key K_g in hexadecimal, where it has one: up to 20 bytes, no zero byte but at the end.",
    ),
    "ipmi_priv_level": Property(
        Holds.SETTING,
        f"Privilege level of the session: {', '.join(PRIVILEGES)}. The default is ADMINISTRATOR.",
    ),
    "ipmi_protocol_version": Property(Holds.PLACE, "Version of IPMI: 2.0, the default, or 1.5."),
    "ipmi_cipher_suite": Property(
        Holds.PLACE,
        "Number of the cipher suite, with version 2.0. By default ipmitool and the BMC agree on one.",
    ),
    "ipmi_bridging": Property(
        Holds.BRIDGE,
        "Whether requests are bridged to another controller: no, the default, single or dual.",
    ),
    "ipmi_local_address": Property(Holds.MACHINE, "Own IPMB address for bridging."),
    "ipmi_transit_channel": Property(Holds.MACHINE, "Transit channel for dual bridging."),
    "ipmi_transit_address": Property(Holds.MACHINE, "Transit address for dual bridging."),
    "ipmi_target_channel": Property(Holds.MACHINE, "Channel of the controller that requests are bridged to."),
    "ipmi_target_address": Property(Holds.MACHINE, "Address of the controller that requests are bridged to."),
    "ipmi_force_boot_device": Property(
        Holds.SETTING,
        "Whether a persistent boot device is set again before each start of the machine, for "
        "BMCs that forget it. The default is false.",
    ),
    "ipmi_disable_boot_timeout": Property(
        Holds.SETTING,
        "Whether the BMC is to keep a boot device for longer than a minute. The default is "
        "option [ipmi]disable_boot_timeout.",
    ),
}
CONSOLE_PROPERTIES: Final[Mapping[str, Property]] = {
    "ipmi_terminal_port": Property(
        Holds.OWN_PORT,
        "TCP port of the console on the conductor's host; by default one of [console]port_range.",
    )
}


@dataclass(frozen=True, slots=True)
class Access:
    """Everything that ipmitool needs to reach one controller."""

    address: str
    port: int = USUAL_PORT
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    kg_key: bytes = field(default=b"", repr=False)
    privilege: str = PRIVILEGES[0]
    protocol: str = PROTOCOLS["2.0"]
    cipher_suite: str | None = None
    # Options of bridging with their values.
    bridge: tuple[str, ...] = ()
    # A project has chosen the address, so its errors don't say what is there.
    by_project: bool = False

    @property
    def server(self) -> str:
        """The name of the BMC, the same for all controllers behind it."""
        return f"ipmi://{syntax.host_in_url(self.address).lower()}:{self.port}"


def access_of(node: Node) -> Access:
    """Return how to reach the node's BMC; raise InvalidParameterValue or MissingParameterValue for driver_info."""
    info = _Info(node)
    if info.get("address") in (None, ""):
        raise missing_keys(node.uuid, "driver_info", ["ipmi_address"], node.driver_info, PROPERTIES)
    version = info.choice("protocol_version", tuple(PROTOCOLS), "2.0")
    cipher_suite = _cipher_suite(info)
    if cipher_suite is not None and version == "1.5":
        raise info.wrong("cipher_suite", "has no meaning for version 1.5 of IPMI; remove it")
    return Access(
        address=_address(info),
        port=info.port("port") or USUAL_PORT,
        username=info.line("username", _LONGEST_USERNAME),
        password=info.line("password", _LONGEST_PASSWORD if version == "2.0" else _LONGEST_USERNAME),
        kg_key=_kg_key(info),
        privilege=info.choice("priv_level", PRIVILEGES, PRIVILEGES[0]),
        protocol=PROTOCOLS[version],
        cipher_suite=cipher_suite,
        bridge=_bridge(info),
        by_project=is_by_project("ipmi_", node.driver_internal_info),
    )


def terminal_port_of(node: Node) -> int | None:
    """Return the TCP port that the node's console must have, None when any will do; raise InvalidParameterValue."""
    return _Info(node).port("terminal_port")


def flag_of(node: Node, name: str, *, default: bool) -> bool:
    """Return a boolean word of driver_info; raise InvalidParameterValue for any other value."""
    info = _Info(node)
    value = info.get(name)
    truth = default if value in (None, "") else syntax.truth_of(value)
    if truth is None:
        raise info.wrong(name, "must be true or false")
    return truth


def is_byte(text: str) -> bool:
    """Return whether a text is a number from 0 to 255 as ipmitool reads it: decimal, or hexadecimal with 0x."""
    return _BYTE.fullmatch(text) is not None and int(text, 16 if "x" in text.lower() else 10) <= 255


@dataclass(frozen=True, slots=True)
class _Info:
    """The ipmi part of a node's driver_info."""

    node: Node

    def get(self, name: str) -> Any:
        return self.node.driver_info.get(f"ipmi_{name}")

    def line(self, name: str, longest: int) -> str | None:
        """Return a line of text of so many bytes, None for an empty one; a number is its digits."""
        value = self.get(name)
        if value is None or value == "":
            return None
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if not isinstance(text, str):
            raise self.wrong(name, "must be text")
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise self.wrong(name, "has characters that are none") from None
        if size > longest:
            raise self.wrong(name, f"must not have more than {longest} bytes")
        if any(character < " " or character == "\x7f" for character in text):
            raise self.wrong(name, "must not have control characters")
        return text

    def port(self, name: str) -> int | None:
        text = self.line(name, 5)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 16):
            raise self.wrong(name, "must be a port number, 1 to 65535")
        return int(text)

    def choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        value = self.get(name)
        if value in (None, ""):
            return default
        if isinstance(value, int | float | str) and str(value) in choices:
            return str(value)
        raise self.wrong(name, f"must be one of {', '.join(choices)}")

    def wrong(self, name: str, reason: str) -> InvalidParameterValue:
        """Return the error; it does not quote the value, which may be a misplaced secret."""
        return InvalidParameterValue(err=f"ipmi_{name} in the driver_info of node {self.node.uuid} {reason}.")


def _address(info: _Info) -> str:
    text = info.get("address")
    if syntax.is_host_name(text):
        return text
    try:
        # An address with a zone is link-local, and such addresses are not contacted.
        if not isinstance(text, str) or "%" in text:
            raise ValueError
        # The brackets of a URL may stand around an address of IPv6.
        inner = text[1:-1] if text.startswith("[") and text.endswith("]") and ":" in text else text
        return str(ipaddress.ip_address(inner))
    except ValueError:
        raise info.wrong("address", "must be an IP address or a host name") from None


def _kg_key(info: _Info) -> bytes:
    text = info.line("hex_kg_key", 2 * _LONGEST_KEY) or ""
    if not _HEX.fullmatch(text):
        raise info.wrong("hex_kg_key", "must be an even number of hexadecimal digits")
    key = bytes.fromhex(text).rstrip(b"\0")
    if b"\0" in key:
        raise info.wrong("hex_kg_key", "has a zero byte before its end, which can't be passed to ipmitool in secret")
    return key


def _cipher_suite(info: _Info) -> str | None:
    text = info.line("cipher_suite", 3)
    if text is not None and not (text.isascii() and text.isdigit() and int(text) <= 255):
        raise info.wrong("cipher_suite", "must be the number of a cipher suite")
    return text


def _bridge(info: _Info) -> tuple[str, ...]:
    kind = info.choice("bridging", tuple(_NEEDED), "no")
    if kind == "no":
        return ()
    missing = [f"ipmi_{name}" for name in _NEEDED[kind] if info.get(name) in (None, "")]
    if missing:
        reason = f" for bridging {kind!r}"
        raise missing_keys(info.node.uuid, "driver_info", missing, info.node.driver_info, PROPERTIES, reason)
    found: list[str] = []
    for name, option in _BRIDGING.items():
        value = info.line(name, 4) if name in (*_NEEDED[kind], "local_address") else None
        if value is not None:
            if not is_byte(value):
                raise info.wrong(name, "must be a number from 0 to 255, such as 0x20")
            found += option, value
    return tuple(found)

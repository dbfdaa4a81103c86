"""Provider `dnsmasq`: a dnsmasq on this host that watches a directory of hosts and one of options.

Per card there is a file of the same name in both. A host is allowed with a tag of its own, and the options go to that
tag. dnsmasq notices files that are written and keeps what stood in one that is deleted, so a card that is withdrawn
gets a file that has it ignored, and its options stay where nobody asks for them. dnsmasq knows iPXE by the tag `ipxe`,
which its own configuration has to set (dhcp-match=set:ipxe,175).
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core import syntax
from ironic.integrations.dhcp.base import NEXT_SERVER, DhcpError, Host, Option

_NAMES: Final = {NEXT_SERVER: "option:server-ip-address"}
_ID: Final = re.compile(r"[0-9A-Za-z-]+")
# No comma, space, quote, backslash or hash: dnsmasq would take what follows for something else.
_ONE_WORD: Final = re.compile(r"[][A-Za-z0-9._~:/?&=%@+;!$()*-]+")
_TO: Final = {None: "", True: "tag:ipxe,", False: "tag:!ipxe,"}


class Dnsmasq:
    """Writes the files."""

    def serve(self, hosts: Sequence[Host], options: Sequence[Option]) -> None:
        """Allow the cards; the options come first, so that no answer goes without them."""
        for host in hosts:
            _write(_options_file(host), "".join(f"{_line(host, option)}\n" for option in options))
            _write(_host_file(host), f"{_mac(host)},set:{_tag(host)},set:ironic\n")

    def withdraw(self, hosts: Sequence[Host]) -> None:
        """Have the cards ignored, of those that were ever allowed."""
        for host in hosts:
            if _host_file(host).exists():
                _write(_host_file(host), f"{_mac(host)},ignore\n")


def _line(host: Host, option: Option) -> str:
    name = _NAMES.get(option.name, option.name)
    return f"tag:{_tag(host)},{_TO[option.to_ipxe]}{name},{_checked(_ONE_WORD, option.value)}"


def _tag(host: Host) -> str:
    return f"ironic-{_checked(_ID, host.id)}"


def _mac(host: Host) -> str:
    return _checked(syntax.MAC, host.mac)


def _checked(allowed: re.Pattern[str], value: str) -> str:
    """Return a value that dnsmasq reads as the one thing it is; this is the last look before it stands in a file."""
    if not allowed.fullmatch(value):
        raise DhcpError(what=repr(value[:64]), error="dnsmasq would read it as something else")
    return value


def _host_file(host: Host) -> Path:
    return Path(CONF.dnsmasq.dhcp_hostsdir, f"{_tag(host)}.conf")


def _options_file(host: Host) -> Path:
    return Path(CONF.dnsmasq.dhcp_optsdir, f"{_tag(host)}.conf")


def _write(path: Path, text: str) -> None:
    """Write a file unless it says so already; dnsmasq reads it when it is closed."""
    try:
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    except OSError as error:
        raise DhcpError(what=path.name, error=f"{error.strerror}: {path.parent}") from error

"""Provider `dnsmasq`: a dnsmasq on this host that watches a directory of hosts and one of options.

Each card has a file of the same name in both directories. The host file allows the card and sets a tag of its own; the
options file gives the options to that tag. dnsmasq notices files that are written and keeps the rules of deleted files,
so a withdrawn card gets a host file that ignores it, and its options file stays without effect. dnsmasq recognises iPXE
by the tag `ipxe`, which its own configuration has to set (dhcp-match=set:ipxe,175).
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.texts import syntax
from ironic.integrations.dhcp.dhcp_provider import NEXT_SERVER, DhcpError, Host, Option

_NAMES: Final = {NEXT_SERVER: "option:server-ip-address"}
_ID: Final = re.compile(r"[0-9A-Za-z-]+")
# No comma, space, quote, backslash or hash: dnsmasq gives them a meaning.
_ONE_WORD: Final = re.compile(r"[][A-Za-z0-9._~:/?&=%@+;!$()*-]+")
_TO: Final = {None: "", True: "tag:ipxe,", False: "tag:!ipxe,"}


class Dnsmasq:
    """Writes the files of both directories."""

    def serve(self, hosts: Sequence[Host], options: Sequence[Option]) -> None:
        """Allow the cards; options are written first, so that no answer is sent without them."""
        for host in hosts:
            lines = [
                f"tag:{_tag(host)},{_TO[option.to_ipxe]}{_NAMES.get(option.name, option.name)},"
                f"{_checked(_ONE_WORD, option.value)}\n"
                for option in options
            ]
            _write(Path(CONF.dnsmasq.dhcp_optsdir, f"{_tag(host)}.conf"), "".join(lines))
            _write(_host_file(host), f"{_mac(host)},set:{_tag(host)},set:ironic\n")

    def withdraw(self, hosts: Sequence[Host]) -> None:
        """Ignore the cards that have a host file."""
        for host in hosts:
            if _host_file(host).exists():
                _write(_host_file(host), f"{_mac(host)},ignore\n")


def _tag(host: Host) -> str:
    return f"ironic-{_checked(_ID, host.id)}"


def _mac(host: Host) -> str:
    return _checked(syntax.MAC, host.mac)


def _checked(allowed: re.Pattern[str], value: str) -> str:
    """Return a value that dnsmasq reads as one word, or raise DhcpError."""
    if not allowed.fullmatch(value):
        raise DhcpError(what=repr(value[:64]), error="dnsmasq would not read it as one word")
    return value


def _host_file(host: Host) -> Path:
    return Path(CONF.dnsmasq.dhcp_hostsdir, f"{_tag(host)}.conf")


def _write(path: Path, text: str) -> None:
    """Write a file unless it has this text; dnsmasq reads a file when it is closed."""
    try:
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    except OSError as error:
        raise DhcpError(what=path.name, error=f"{error.strerror}: {path.parent}") from error

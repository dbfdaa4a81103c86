"""DHCP providers of third parties, which get the task of a node and its options by their numbers.

Both sorts are under the entry point group `ironic.dhcp`. `serve` and `withdraw` call whichever is chosen.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.core.plug_ins import plug_in_errors
from ironic.integrations.dhcp.dhcp_provider import BOOT_PROGRAM, NEXT_SERVER, DhcpError, Host, Option, provider

# One option: opt_name, opt_value and ip_version.
NumberedOption = dict[str, object]
# What names the TFTP server in the header of an answer, and the option of the same meaning.
_HEADER: Final = "255"
_TFTP_ADDRESS: Final = "150"
# Where a server has no tags, it knows iPXE by the option that only iPXE sends.
_TAGS: Final = {True: {None: "", True: "tag:ipxe,", False: "tag:!ipxe,"}, False: {None: "", True: "", False: "!175,"}}
# The URL of a boot program by DHCPv6 (RFC 5970). DHCPv6 has no option that only iPXE sends.
_BOOT_URL: Final = "59"
_TAGS_V6: Final = {None: "", True: "tag:ipxe6,", False: "tag:!ipxe6,"}


class BaseDHCP(ABC):
    """A DHCP server of a third party; made without arguments, once in a process.

    ``vifs`` has virtual interfaces by the UUIDs of "ports" and "portgroups"; None for a node without any, whose cards
    are those of ``task.ports``.
    """

    @abstractmethod
    def update_port_dhcp_opts(
        self, port_id: str, dhcp_options: Sequence[NumberedOption], context: object = None
    ) -> None:
        """Set the options of one port; raise FailedToUpdateDHCPOptOnPort."""

    @abstractmethod
    def update_dhcp_opts(
        self, task: Any, options: Sequence[NumberedOption], vifs: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        """Set the options of all ports of a node; raise FailedToUpdateDHCPOptOnPort."""

    def clean_dhcp_opts(self, task: Any) -> None:
        """Remove the options of a node; raise FailedToCleanDHCPOpts. The default is to leave them."""
        return

    def get_ip_addresses(self, task: Any) -> list[str]:
        """Return the addresses of a node's ports; none by default."""
        return []

    def supports_ipxe_tag(self) -> bool:
        """Return whether options may be for iPXE alone by the tag ipxe."""
        return False


def numbered(options: Sequence[Option], *, has_tags: bool) -> list[NumberedOption]:
    """Return options by their numbers, as providers of third parties read them."""
    found: list[NumberedOption] = []
    for option in options:
        names = (_TFTP_ADDRESS, _HEADER) if option.name == NEXT_SERVER else (option.name,)
        tag = _TAGS[has_tags][option.to_ipxe]
        found += [{"opt_name": f"{tag}{name}", "opt_value": option.value, "ip_version": 4} for name in names]
    return found


def numbered_v6(options: Sequence[Option], *, has_tags: bool) -> list[NumberedOption]:
    """Return the URLs of boot programs as options of DHCPv6; without tags, iPXE can't be given one of its own.

    A program of TFTP is at the server for DHCPv4, by its name or address.
    """
    server = next((option.value for option in options if option.name == NEXT_SERVER), "")
    return [
        {
            "opt_name": f"{_TAGS_V6[option.to_ipxe]}{_BOOT_URL}",
            "opt_value": option.value if "://" in option.value else f"tftp://{_in_url(server)}/{option.value}",
            "ip_version": 6,
        }
        for option in options
        if option.name == BOOT_PROGRAM and (has_tags or option.to_ipxe is None)
    ]


def _in_url(server: str) -> str:
    return f"[{server}]" if ":" in server and not server.startswith("[") else server


def _vifs(task: Any) -> dict[str, dict[str, str]] | None:
    """Return the virtual interfaces that the cards of a node have now, None without any."""
    found = {
        kind: {one.uuid: vif for one in cards if (vif := task.network.get_current_vif(task, one))}
        for kind, cards in (("ports", task.ports), ("portgroups", task.portgroups))
    }
    return found if any(found.values()) else None


def serve(task: Any, hosts: Sequence[Host], options: Sequence[Option]) -> None:
    """Have the chosen provider serve the cards of a node with these options; raises DhcpError, or its own error."""
    chosen: Any = provider()
    if not hasattr(chosen, "update_dhcp_opts"):
        chosen.serve(hosts, options)
        return
    has_tags = chosen.supports_ipxe_tag()
    given = [*numbered(options, has_tags=has_tags), *numbered_v6(options, has_tags=has_tags)]
    _call(task, lambda: chosen.update_dhcp_opts(task, given, vifs=_vifs(task)))


def withdraw(task: Any, hosts: Sequence[Host]) -> None:
    """Have the chosen provider stop serving the cards of a node; raises DhcpError, or its own error."""
    chosen: Any = provider()
    if not hasattr(chosen, "update_dhcp_opts"):
        chosen.withdraw(hosts)
        return
    _call(task, lambda: chosen.clean_dhcp_opts(task))


def withdraw_leftovers(hosts: Sequence[Host]) -> None:
    """Stop serving cards whose node another host serves now: what is kept on this host, which none of the others is."""
    chosen: Any = provider()
    if not hasattr(chosen, "update_dhcp_opts"):
        chosen.withdraw(hosts)


def _call(task: Any, act: Callable[[], None]) -> None:
    try:
        act()
    except IronicError:
        raise
    except Exception as error:
        raise DhcpError(what=f"node {task.node.uuid}", error=f"{type(error).__name__}: {error}") from error


class DHCPFactory:
    """The provider that [dhcp]dhcp_provider names; raises DHCPLoadError if it can't be loaded."""

    def __init__(self, **_kwargs: object) -> None:
        try:
            self.provider: Any = provider()
        except IronicError as error:
            raise plug_in_errors.DHCPLoadError(dhcp_provider_name=CONF.dhcp.dhcp_provider, reason=str(error)) from error

    def update_dhcp(
        self,
        task: Any,
        options: Sequence[NumberedOption],
        ports: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Set the options of a node; a provider of this service gets them from its boot interface instead."""
        if hasattr(self.provider, "update_dhcp_opts"):
            self.provider.update_dhcp_opts(task, options, ports)

    def clean_dhcp(self, task: Any) -> None:
        """Remove the options of a node."""
        withdraw(task, [Host(port.uuid, port.address) for port in task.ports])

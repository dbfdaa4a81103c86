"""Which DHCP provider is used."""

import functools
from importlib.metadata import entry_points
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.integrations.dhcp.base import DhcpProvider

GROUP: Final = "ironic.dhcp"


def provider() -> DhcpProvider:
    """Return the provider that [dhcp]dhcp_provider names, or raise InvalidParameterValue when there is none."""
    return _provider(CONF.dhcp.dhcp_provider)


@functools.cache
def _provider(name: str) -> DhcpProvider:
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        raise InvalidParameterValue(
            err=f"There is no DHCP provider {name!r} here. Set [dhcp]dhcp_provider to one of: "
            f"{', '.join(sorted(found))}."
        )
    made: DhcpProvider = found[name].load()()
    return made

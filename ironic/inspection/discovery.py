"""Enrolling machines that report themselves and that nobody knows.

Happens only when nothing at all matches: a machine whose addresses belong to any node, in whatever state, is never
enrolled again (S79). An operator may narrow down who is let in by MAC addresses and source, and how many in an hour.
The new node gets its ports at once, so that the next report of the same machine finds it.
"""

import ipaddress
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from oslo_config import cfg

from ironic.core import states
from ironic.core.errors import InvalidParameterValue, IronicError, NodeAlreadyExists
from ironic.core.interface_choice import resolve
from ironic.core.interface_kinds import interface_field
from ironic.core.resource_errors import MACAlreadyExists
from ironic.db import NodeRow, Store
from ironic.inspection import bmc_addresses as bmc
from ironic.inspection.hooks import ports, validate_interfaces
from ironic.inspection.rules.running import SCOPE_PROPERTY

FLAG: Final = "auto_discovered"

_HOUR: Final = timedelta(hours=1)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class DiscoveryFailed(IronicError):
    """An unknown machine could not be enrolled; why is in the log."""

    status = 500
    text = "The machine can't be enrolled."


class NotWelcome(Exception):
    """An unknown machine is not let in; the text says why."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What the operator wants done with unknown machines."""

    driver: str
    inspection_scope: str | None = None
    mac_prefixes: tuple[str, ...] = ()
    subnets: tuple[Network, ...] = ()
    max_per_hour: int = 0
    conductor_group: str = ""
    resource_class: str | None = None
    add_ports: str = "all"
    heartbeat_timeout: int = 60

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> Self | None:
        """Read the options; None when discovery is off. Raises InvalidParameterValue."""
        options = conf.auto_discovery
        if not options.enabled:
            return None
        if not options.driver:
            raise InvalidParameterValue(
                err="[auto_discovery]enabled needs [auto_discovery]driver, the hardware type of new nodes."
            )
        return cls(
            driver=options.driver,
            inspection_scope=options.inspection_scope,
            mac_prefixes=tuple(prefix.strip().lower().replace("-", ":") for prefix in options.allowed_mac_prefixes),
            subnets=tuple(_subnet(text) for text in options.allowed_subnets),
            max_per_hour=options.max_per_hour,
            conductor_group=conf.default_conductor_group.lower(),
            resource_class=conf.default_resource_class,
            add_ports=conf.inspector.add_ports,
            heartbeat_timeout=conf.conductor.heartbeat_timeout,
        )

    def objection(self, macs: Sequence[str], source: str | None) -> str | None:
        """Return why a machine is not let in, None when it is."""
        if self.mac_prefixes and not any(mac.startswith(self.mac_prefixes) for mac in macs):
            return "none of its MAC addresses begins as [auto_discovery]allowed_mac_prefixes wants"
        if self.subnets and not _is_in(source, self.subnets):
            return "it reports from outside of [auto_discovery]allowed_subnets"
        return None


def enroll(
    store: Store,
    discovery: Discovery,
    *,
    inventory: Mapping[str, object],
    macs: Sequence[str],
    bmc_addresses: Sequence[str],
    source: str | None,
) -> NodeRow:
    """Create the node of an unknown machine; raises NotWelcome or DiscoveryFailed."""
    if reason := discovery.objection(macs, source):
        raise NotWelcome(reason)
    new_ports = ports_of(inventory, discovery.add_ports)
    if not new_ports and not bmc_addresses:
        raise NotWelcome("it would get no ports and tells no BMC address, so it could not be recognised the next time")
    _check_room(store, discovery)
    _check_nobody_names(store, bmc_addresses)
    everywhere = store.conductors.served_interfaces(discovery.heartbeat_timeout)
    served = [row for row in everywhere if row.conductor_group == discovery.conductor_group]
    try:
        chosen = resolve(served, discovery.driver, {})
        return store.run(lambda _: _create(store, discovery, chosen, new_ports, bmc_addresses))
    except (MACAlreadyExists, NodeAlreadyExists):
        raise NotWelcome("it has just been enrolled by another request") from None
    except IronicError as error:
        raise DiscoveryFailed() from error


def comes_again(store: Store, known: NodeRow | None, bmc_addresses: Sequence[str]) -> NodeRow | None:
    """Return the node that was made of this machine's report a moment ago, if that never got to a conductor.

    ``known`` is the node that its other addresses lead to.
    """
    nodes = [known] if known else store.nodes.by_bmc_addresses(bmc_addresses, None) if bmc_addresses else []
    return nodes[0] if len(nodes) == 1 and _was_never_looked_at(store, nodes[0]) else None


def _was_never_looked_at(store: Store, node: NodeRow) -> bool:
    columns = ("provision_state", FLAG, "inspection_finished_at", "last_error")
    state, discovered, finished_at, last_error = store.nodes.row(columns, node.id)
    return bool(state == states.ENROLL and discovered and finished_at is None and not last_error)


def ports_of(inventory: Mapping[str, object], add_ports: str) -> list[dict[str, object]]:
    """Return the ports that the hooks will want, or raise NotWelcome when no interface can be used."""
    found = validate_interfaces.all_interfaces(inventory)
    valid = validate_interfaces.valid_interfaces(found, add_ports)
    if not valid:
        raise NotWelcome("none of its network interfaces can be used")
    return ports.plan([], found, valid, ports.Wishes(add_ports, "all", False)).create


def _create(
    store: Store,
    discovery: Discovery,
    chosen: dict[str, str],
    new_ports: Sequence[Mapping[str, object]],
    bmc_addresses: Sequence[str],
) -> NodeRow:
    # Once more, for others do the same at the same time.
    _check_room(store, discovery)
    if bmc_addresses and (known := store.nodes.by_bmc_addresses(bmc_addresses, None)):
        raise _is_bmc_of(known[0])
    scope = discovery.inspection_scope
    node = store.nodes.create(
        {
            "uuid": None if new_ports else _uuid_of(bmc_addresses),
            "driver": discovery.driver,
            "provision_state": states.ENROLL,
            FLAG: True,
            "conductor_group": discovery.conductor_group,
            "resource_class": discovery.resource_class,
            "properties": {SCOPE_PROPERTY: scope} if scope else {},
            **{interface_field(kind): name for kind, name in chosen.items()},
        }
    )
    for values in new_ports:
        store.ports.create({"node_id": node.id, **values})
    store.nodes.set_bmc_addresses(node.id, bmc_addresses)
    return NodeRow(node.id, node.uuid, None, states.ENROLL, discovery.driver, discovery.conductor_group)


def _uuid_of(bmc_addresses: Sequence[str]) -> str:
    """Return the UUID of a node without ports: two requests for one machine at once can't both have it."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"bmc:{','.join(sorted(bmc_addresses))}"))


def _check_room(store: Store, discovery: Discovery) -> None:
    most, since = discovery.max_per_hour, store.clock() - _HOUR
    if most and store.nodes.discovered_since(since) >= most:
        raise NotWelcome(f"{most} machines have been enrolled within an hour, see [auto_discovery]max_per_hour")


def _check_nobody_names(store: Store, addresses: Sequence[str]) -> None:
    """Look for a node that has one of these BMC addresses in its driver_info, though it was never inspected."""
    wanted = frozenset(addresses)
    for node, driver_info in store.nodes.mentioning([form for one in addresses for form in bmc.forms(one)]):
        if wanted & set(bmc.collect(driver_info, resolve=lambda _: ())):
            raise _is_bmc_of(node)


def _is_bmc_of(node: NodeRow) -> NotWelcome:
    return NotWelcome(f"its BMC is that of node {node.uuid} in state '{node.provision_state}'")


def _subnet(text: str) -> Network:
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise InvalidParameterValue(err=f"[auto_discovery]allowed_subnets can't be used: {error}.") from None


def _is_in(source: str | None, subnets: Sequence[Network]) -> bool:
    try:
        address = ipaddress.ip_address((source or "").partition("%")[0])
    except ValueError:
        return False
    # A server that listens on IPv6 sees IPv4 machines under such addresses.
    plain = getattr(address, "ipv4_mapped", None) or address
    return any(plain in subnet for subnet in subnets)

"""Auto-discovery: enroll unknown machines that send inspection data ([auto_discovery]).

A machine is enrolled only when no address of it belongs to a node in any state (S79). Operators may restrict discovery
by MAC addresses and source addresses, and limit how many machines are enrolled in an hour. The new node gets its ports
at once, so that the next report of the same machine finds it.
"""

import ipaddress
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from oslo_config import cfg

from ironic.core.errors import InvalidParameterValue, IronicError, NodeAlreadyExists
from ironic.core.errors.resource_errors import MACAlreadyExists
from ironic.core.flows import states
from ironic.core.model.node import SCOPE_PROPERTY
from ironic.db import NodeRow, Store
from ironic.inspection import bmc_addresses as bmc
from ironic.inspection.hooks import inspected_ports, report_validation
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import nodes
from ironic.services.node_authors import Author

FLAG: Final = "auto_discovered"

_HOUR: Final = timedelta(hours=1)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class DiscoveryFailed(IronicError):
    """An unknown machine could not be enrolled; why is in the log."""

    status = 500
    text = "The machine can't be enrolled."


class NotEnrolled(Exception):
    """An unknown machine may not be enrolled; the text says why."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The options for unknown machines."""

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
        """Return why a machine may not be enrolled, None when it may."""
        if self.mac_prefixes and not any(mac.startswith(self.mac_prefixes) for mac in macs):
            return "none of its MAC addresses begins with one of [auto_discovery]allowed_mac_prefixes"
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
    """Create the node of an unknown machine; raises NotEnrolled or DiscoveryFailed."""
    if reason := discovery.objection(macs, source):
        raise NotEnrolled(reason)
    new_ports = ports_of(inventory, discovery.add_ports)
    if not new_ports and not bmc_addresses:
        raise NotEnrolled(
            "it would get no ports and reports no BMC address, so it could not be recognised the next time"
        )
    _check_hourly_limit(store, discovery)
    _check_bmc_unclaimed(store, bmc_addresses)
    author = Author(store, HashRingManager(store, heartbeat_timeout=discovery.heartbeat_timeout))
    scope = discovery.inspection_scope
    new = {
        # Without ports the UUID is made from the BMC: of two requests for one machine at once, one fails.
        "uuid": None if new_ports else str(uuid.uuid5(uuid.NAMESPACE_URL, f"bmc:{','.join(sorted(bmc_addresses))}")),
        "driver": discovery.driver,
        "provision_state": states.ENROLL,
        FLAG: True,
        "conductor_group": discovery.conductor_group,
        "resource_class": discovery.resource_class,
        "properties": {SCOPE_PROPERTY: scope} if scope else {},
    }
    try:
        values = nodes.completed(new, author)
        return store.run(lambda _: _create_node(discovery, values, author, new_ports, bmc_addresses))
    except (MACAlreadyExists, NodeAlreadyExists):
        raise NotEnrolled("it has just been enrolled by another request") from None
    except IronicError as error:
        raise DiscoveryFailed() from error


def comes_again(store: Store, known: NodeRow | None, bmc_addresses: Sequence[str]) -> NodeRow | None:
    """Return the node that an earlier report of this machine created, when that report never got to a conductor.

    ``known`` is the node that its other addresses lead to.
    """
    nodes = [known] if known else store.nodes.by_bmc_addresses(bmc_addresses, None) if bmc_addresses else []
    if len(nodes) != 1:
        return None
    columns = ("provision_state", FLAG, "inspection_finished_at", "last_error")
    state, discovered, finished_at, last_error = store.nodes.row(columns, nodes[0].id)
    # Two machines may have the same MAC address, but not the same BMC.
    own = set(store.nodes.bmc_addresses(nodes[0].id))
    if own and bmc_addresses and own.isdisjoint(bmc_addresses):
        return None
    is_unprocessed = state == states.ENROLL and discovered and finished_at is None and not last_error
    return nodes[0] if is_unprocessed else None


def ports_of(inventory: Mapping[str, object], add_ports: str) -> list[dict[str, object]]:
    """Return the values of the ports that the hooks will create; raise NotEnrolled when no interface is usable."""
    found = report_validation.all_interfaces(inventory)
    valid = report_validation.valid_interfaces(found, add_ports)
    if not valid:
        raise NotEnrolled("none of its network interfaces can be used")
    return inspected_ports.plan([], found, valid, inspected_ports.PortOptions(add_ports, None, False)).create


def _create_node(
    discovery: Discovery,
    values: Mapping[str, object],
    author: Author,
    new_ports: Sequence[Mapping[str, object]],
    bmc_addresses: Sequence[str],
) -> NodeRow:
    store = author.store
    # Once more: other requests may have enrolled machines since the first check.
    _check_hourly_limit(store, discovery)
    if bmc_addresses and (known := store.nodes.by_bmc_addresses(bmc_addresses, None)):
        raise _is_bmc_of(known[0])
    node = nodes.enroll(values, author)
    for port in new_ports:
        store.ports.create({"node_id": node.id, **port})
    store.nodes.set_bmc_addresses(node.id, bmc_addresses)
    return NodeRow(node.id, node.uuid, None, states.ENROLL, discovery.driver, discovery.conductor_group)


def _check_hourly_limit(store: Store, discovery: Discovery) -> None:
    most, since = discovery.max_per_hour, store.clock.now() - _HOUR
    if most and store.nodes.discovered_since(since) >= most:
        raise NotEnrolled(f"{most} machines have been enrolled within an hour, see [auto_discovery]max_per_hour")


def _check_bmc_unclaimed(store: Store, addresses: Sequence[str]) -> None:
    """Raise NotEnrolled when a node has one of these BMC addresses in its driver_info, inspected or not."""
    wanted = frozenset(addresses)
    for node, driver_info in store.nodes.mentioning([form for one in addresses for form in bmc.forms(one)]):
        if wanted & set(bmc.collect(driver_info, resolve=lambda _: ())):
            raise _is_bmc_of(node)


def _is_bmc_of(node: NodeRow) -> NotEnrolled:
    return NotEnrolled(f"its BMC is that of node {node.uuid} in state '{node.provision_state}'")


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

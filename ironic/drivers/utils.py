"""A door for third-party plug-ins: what drivers often ask of a node, under the path they import it from."""

from ironic.core.capabilities import parse as capabilities_to_dict
from ironic.drivers.node_facts import add_capability as add_node_capability
from ironic.drivers.node_facts import capability as get_node_capability
from ironic.drivers.node_facts import mac_addresses as get_node_mac_addresses

__all__ = ["add_node_capability", "capabilities_to_dict", "get_node_capability", "get_node_mac_addresses"]

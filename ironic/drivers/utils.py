"""Import path for third-party plug-ins: attributes of a node that drivers read."""

from ironic.core.plug_ins.plug_in_values import normalize_mac
from ironic.core.texts.syntax import parse_capabilities as capabilities_to_dict
from ironic.drivers.nodes.node_attributes import add_capability as add_node_capability
from ironic.drivers.nodes.node_attributes import capability as get_node_capability
from ironic.drivers.nodes.node_attributes import mac_addresses as get_node_mac_addresses
from ironic.drivers.nodes.node_attributes import remove_capability as remove_node_capability
from ironic.drivers.plug_ins.deploying import get_kernel_append_params, power_off_and_on, store_ramdisk_logs

__all__ = [
    "add_node_capability",
    "capabilities_to_dict",
    "get_kernel_append_params",
    "get_node_capability",
    "get_node_mac_addresses",
    "normalize_mac",
    "power_off_and_on",
    "remove_node_capability",
    "store_ramdisk_logs",
]

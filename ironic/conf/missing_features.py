"""Groups of options whose whole feature is missing in this release, apart from options that merely have no effect.

An operator with a configuration of another release reads in one line of the log what will be missing. Delete a group
here when its feature is built; a test checks that none of them has a registered option.
"""

from collections.abc import Mapping
from typing import Final

FEATURES: Final[Mapping[str, str]] = {
    "anaconda": "deployment by Anaconda",
    "ansible": "deployment by Ansible playbooks",
    "cinder": "volumes of Cinder",
    "drac": "hardware type idrac (redfish serves these machines)",
    "glance": "images of Glance",
    "ilo": "hardware types ilo and ilo5 (redfish serves these machines)",
    "ironic_networking": "switches configured by the networking service",
    "ironic_networking_json_rpc": "calls to the networking service",
    "irmc": "hardware type irmc (redfish serves these machines)",
    "json_rpc": "calls between processes by JSON-RPC (RabbitMQ carries them)",
    "mdns": "announcing the API by multicast DNS",
    "neutron": "networks of Neutron",
    "nova": "notices of power changes to Nova",
    "oci": "images of OCI registries",
    "snmp": "power by SNMP",
}


def described(groups: Mapping[str, list[str]]) -> str:
    """Return the missing features among groups of a configuration, in words; empty if there is none."""
    return "; ".join(f"[{group}] {FEATURES[group]}" for group in groups if group in FEATURES)

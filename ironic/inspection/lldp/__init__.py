"""LLDP: decode the frames that a ramdisk has captured into facts about switches and their ports.

Names of the facts: doc/contract/inspection.md#lldp.
"""

from ironic.inspection.lldp.lldp_parser import Value, decode, frames_of, parse_frame

__all__ = ["Value", "decode", "frames_of", "parse_frame"]

"""What switches say of themselves: LLDP as a ramdisk has caught it, made readable.

Names of what is read: doc/contract/inspection.md#lldp.
"""

from ironic.inspection.lldp.frames import Frame, MalformedFrame, decode, frames_of
from ironic.inspection.lldp.reading import parse

__all__ = ["Frame", "MalformedFrame", "decode", "frames_of", "parse"]

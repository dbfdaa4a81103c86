"""A door for third-party plug-ins: Portgroup under the path of its own module."""

from ironic.drivers.plug_ins.records import Portgroup

__all__ = ["Portgroup"]

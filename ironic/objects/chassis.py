"""A door for third-party plug-ins: Chassis under the path of its own module."""

from ironic.drivers.plug_ins.records import Chassis

__all__ = ["Chassis"]

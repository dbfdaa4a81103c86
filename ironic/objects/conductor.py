"""A door for third-party plug-ins: Conductor under the path of its own module."""

from ironic.drivers.plug_ins.records import Conductor

__all__ = ["Conductor"]

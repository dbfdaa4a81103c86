"""A door for third-party plug-ins: Port under the path of its own module."""

from ironic.drivers.plug_ins.records import Port

__all__ = ["Port"]

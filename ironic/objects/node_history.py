"""A door for third-party plug-ins: NodeHistory under the path of its own module."""

from ironic.drivers.plug_ins.records import NodeHistory

__all__ = ["NodeHistory"]

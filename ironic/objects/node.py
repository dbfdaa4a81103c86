"""A door for third-party plug-ins: Node under the path of its own module."""

from ironic.drivers.plug_ins.records import Node

__all__ = ["Node"]

"""A door for third-party plug-ins: VolumeTarget under the path of its own module."""

from ironic.drivers.plug_ins.records import VolumeTarget

__all__ = ["VolumeTarget"]

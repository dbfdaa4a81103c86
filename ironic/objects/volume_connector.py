"""A door for third-party plug-ins: VolumeConnector under the path of its own module."""

from ironic.drivers.plug_ins.records import VolumeConnector

__all__ = ["VolumeConnector"]

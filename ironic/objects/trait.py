"""A door for third-party plug-ins: the traits of nodes under the path of their own module."""

from ironic.drivers.plug_ins.traits import Trait, TraitList

__all__ = ["Trait", "TraitList"]

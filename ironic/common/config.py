"""A door for third-party plug-ins and operators' programs: reading the configuration."""

from ironic.conf.plug_in_reading import parse_args

__all__ = ["parse_args"]

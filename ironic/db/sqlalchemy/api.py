"""A door for operators' programs: which conductors are alive."""

from ironic.db.plug_in_conductors import get_backend

__all__ = ["get_backend"]

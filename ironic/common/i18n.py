"""A door for third-party plug-ins: the mark of texts to be translated."""

from ironic.core.plug_ins.plug_in_values import untranslated as _

__all__ = ["_"]

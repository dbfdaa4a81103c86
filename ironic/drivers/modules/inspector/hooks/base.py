"""A door for third-party plug-ins: the base of inspection hooks under the path they import it from."""

from ironic.inspection.hooks.base import InspectionHook

__all__ = ["InspectionHook"]

"""The base of inspection hooks, under the path from which third-party plug-ins import it."""

from ironic.inspection.hooks.base import InspectionHook

__all__ = ["InspectionHook"]

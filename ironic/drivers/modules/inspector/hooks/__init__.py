"""Import path of the base of hooks for third-party plug-ins; our own hooks are in `ironic.inspection.hooks`."""

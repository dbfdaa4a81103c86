"""A door for third-party plug-ins; our own hooks live in `ironic.inspection.hooks`."""

"""Names of errors, states and values as third-party plug-ins know them, for the doors."""

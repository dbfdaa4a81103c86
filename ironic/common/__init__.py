"""A door for third-party plug-ins: nothing of ours lives here or is imported from here."""

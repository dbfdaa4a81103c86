"""A door for third-party plug-ins and operators' programs: nothing of ours lives here or is imported from here."""

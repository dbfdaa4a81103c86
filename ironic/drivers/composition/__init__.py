"""How drivers come about: which packages are installed, what is enabled, and what is composed for a node."""

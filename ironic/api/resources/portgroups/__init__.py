"""Port groups: several network cards that work as one."""

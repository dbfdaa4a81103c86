"""The agent family: what is done on a machine by the agent in its ramdisk."""

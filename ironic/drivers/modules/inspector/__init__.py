"""The agent inspect interface: a ramdisk inspects the machine and posts the data."""

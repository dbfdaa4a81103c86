"""The agent inspect interface: a ramdisk looks at the machine and posts what it finds."""

"""The tree: what a Redfish BMC shows of a machine, and how much of it is known."""

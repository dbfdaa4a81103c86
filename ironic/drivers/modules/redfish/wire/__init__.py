"""The wire: how requests reach a Redfish BMC, and what comes back of them, in the form that the tree reads."""

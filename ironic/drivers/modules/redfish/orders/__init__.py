"""Orders: changes that a Redfish BMC is asked for, in the forms that it takes, and whether it has made them."""

"""Machines whose BMC speaks Redfish, by way of the sushy library; imported only where one of these is enabled."""

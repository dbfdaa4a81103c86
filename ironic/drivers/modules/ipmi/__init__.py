"""Interfaces for machines whose BMC speaks IPMI, by the program ipmitool."""

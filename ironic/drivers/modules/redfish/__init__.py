"""Interfaces for BMCs that implement Redfish, through the sushy library; imported only if one of them is enabled."""

"""Ports: network cards."""

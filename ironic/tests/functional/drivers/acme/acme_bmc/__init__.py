"""Acme machines for the bare metal service."""

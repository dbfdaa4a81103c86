"""Volumes: connectors and targets of a node."""

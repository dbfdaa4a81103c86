"""Nodes, and the paths below a node."""

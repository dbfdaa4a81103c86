"""Nodes, and what stands below one in its path."""

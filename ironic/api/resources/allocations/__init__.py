"""Allocations: nodes that are looked for and kept for an instance."""

"""Implementations of the storage interface."""

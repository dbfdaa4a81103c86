"""Implementations of the network interface."""

"""Drivers: the hardware types that live conductors serve."""

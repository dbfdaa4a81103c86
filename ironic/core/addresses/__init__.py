"""Addresses that come from outside, and which of them the service may connect to or be called back from."""

"""Runbooks: lists of steps under a name."""

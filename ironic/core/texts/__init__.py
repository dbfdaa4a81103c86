"""Texts that come from outside or go into files: their syntax, their quoting, and JSON that is not quite JSON."""

"""Inspection rules, and what they would do or did."""

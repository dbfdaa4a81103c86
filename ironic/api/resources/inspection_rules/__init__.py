"""Inspection rules, and evaluating them on given data."""

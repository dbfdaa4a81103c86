"""Behaviour that several things must show alike: classes of tests, joined by giving a fixture."""

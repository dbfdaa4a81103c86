"""Migrations: the way from any earlier schema to the tables of today, one module per step in `versions`."""

"""Packaging is declared in setup.cfg; this file lets tools that want a setup.py find it."""

import setuptools

setuptools.setup()

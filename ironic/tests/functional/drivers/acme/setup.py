"""Packaging of the example."""

from setuptools import setup

setup()

"""Ironic: bare metal provisioning as a service."""

"""For third-party plug-ins: DHCP providers under the path they import their base from."""

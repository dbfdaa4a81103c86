"""Graphical consoles: a container shows the screen of a machine over VNC, the proxy brings it into a browser."""

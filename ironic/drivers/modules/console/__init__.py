"""Serial consoles over TCP: one socat per node runs the command that speaks with the machine."""

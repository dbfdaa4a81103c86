"""What a conductor does with nodes: one module per flow, one engine for all flows of steps."""

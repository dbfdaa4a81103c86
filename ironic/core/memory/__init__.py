"""What the service remembers of a node for itself: its agent, its inspection, its consoles, what it has set."""

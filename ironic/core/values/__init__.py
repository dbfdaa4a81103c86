"""Types of values, and values with rules of their own: traits, network data, root device hints, steps of users."""

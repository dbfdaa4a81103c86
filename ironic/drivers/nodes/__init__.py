"""What several drivers read of a node, or do with it in the same way."""

"""Keys of the free dictionaries of a node: which there are, of what type, and who owns them."""

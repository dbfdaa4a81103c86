"""Pure logic without I/O, clock or options: the layers above perform what is decided here."""

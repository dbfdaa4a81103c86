"""Pure logic: no I/O, no clock, no options. What to do is decided here; who does it lives above."""

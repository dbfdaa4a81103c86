"""Pure logic without I/O or options: the layers above perform what is decided here.

Time, threads and chance have their rooms here, `clock` and `threads`, which the composition root hands in.
"""

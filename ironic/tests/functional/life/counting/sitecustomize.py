"""Found by Python at the start of a program of the service: lets a test ask what the process holds.

The program runs with PYTHONMALLOC=malloc, so the C library knows every byte in use, also of extensions. Before they
are counted, garbage is collected and what has a size of its own is emptied: caches with a limit, and pools.
"""

import ctypes
import gc
import json
import os
import socket
import threading

_PLACE = os.environ.get("IRONIC_COUNTING", "")


class _Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


_LIBC = ctypes.CDLL(None)


def _bytes_in_use() -> int:
    _LIBC.mallinfo2.restype = _Mallinfo
    found = _LIBC.mallinfo2()
    return int(found.uordblks + found.hblkhd)


def _empty_what_is_bounded() -> int:
    """Empty caches and pools; return how many connections to databases were open."""
    import functools

    import sqlalchemy as sa

    cache = type(functools.lru_cache(len))
    connections = 0
    for one in gc.get_objects():
        if type(one) is cache and one.cache_parameters()["maxsize"] is not None:
            one.cache_clear()
        elif isinstance(one, sa.Engine):
            connections += one.pool.checkedin() + one.pool.checkedout()  # type: ignore[attr-defined]  # of a QueuePool
            one.clear_compiled_cache()
            one.dispose()
    return connections


def _counted() -> dict[str, int]:
    import wsme.types

    files, threads = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
    # What was there at the start is hidden from the collector, and so from those who look.
    gc.unfreeze()
    connections = _empty_what_is_bounded()
    gc.collect()
    found = gc.get_objects()
    return {
        "bytes": _bytes_in_use(),
        "files": files,
        "threads": threads,
        "connections": connections,
        "objects": len(found),
        "classes": sum(isinstance(one, type) for one in found),
        "wsme": len(list(wsme.types.registry.complex_types)),
    }


def _serve() -> None:
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(_PLACE)
        door.listen()
        while True:
            asker, _ = door.accept()
            with asker:
                asker.sendall(json.dumps(_counted()).encode())


if _PLACE and not os.path.exists(_PLACE):
    threading.Thread(target=_serve, name="counting", daemon=True).start()

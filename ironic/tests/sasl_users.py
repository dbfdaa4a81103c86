"""Users of a server that checks passwords by SASL, in a database that Cyrus SASL itself writes.

Run as a program with the name of the server, a user and a password; `SASL_CONF_PATH` names the directory of the
server's configuration. It is a program because the library reads that once in the life of a process.
"""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

_LIBRARY: Final = "libsasl2.so.2"
# Flag of sasl_setpass: the user may be new.
_CREATE: Final = 1


def add_user(server: str, directory: Path, user: str, password: str) -> dict[str, str]:
    """Have a server know one user, in a new database; return the environment that it needs."""
    directory.mkdir()
    lines = ["mech_list: plain", "pwcheck_method: auxprop", "auxprop_plugin: sasldb", f"sasldb_path: {directory}/users"]
    (directory / f"{server}.conf").write_text("\n".join(lines) + "\n")
    environment = {"SASL_CONF_PATH": str(directory)}
    program = [sys.executable, __file__, server, user, password]
    subprocess.run(program, check=True, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
    return environment


def _store(server: str, user: str, password: str) -> None:
    sasl = ctypes.CDLL(_LIBRARY)
    text, number, connection = ctypes.c_char_p, ctypes.c_uint, ctypes.c_void_p()
    sasl.sasl_server_init.argtypes = [ctypes.c_void_p, text]
    sasl.sasl_server_new.argtypes = [*[text] * 5, ctypes.c_void_p, number, ctypes.c_void_p]
    sasl.sasl_setpass.argtypes = [ctypes.c_void_p, text, text, number, text, number, number]
    secret = password.encode()
    for status in (
        sasl.sasl_server_init(None, server.encode()),
        sasl.sasl_server_new(server.encode(), *[None] * 5, 0, ctypes.byref(connection)),
        sasl.sasl_setpass(connection, user.encode(), secret, len(secret), None, 0, _CREATE),
    ):
        assert status == 0, f"Cyrus SASL says {status}"


if __name__ == "__main__":
    _store(*sys.argv[1:])

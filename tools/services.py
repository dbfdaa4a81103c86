"""MariaDB, PostgreSQL and RabbitMQ for the tests, on the loopback.

    python tools/services.py start|stop

The databases have ports of their own and keep their data in memory, where that is large enough: a server that waits for
the disk at each commit would make the tests half as long again. `start` uses servers that already answer there. It
starts the others from the programs of Debian's packages, with their data in a private directory, and waits until they
answer; the error for a missing package names it. `stop` ends only servers
that `start` has started. Only the standard library is used, so that `stop` works without a virtual environment.
"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HOST = "127.0.0.1"
MARIADB_PORT = 23306
POSTGRESQL_PORT = 25432
MEMORY = Path("/dev/shm")
# Bytes that it has to hold.
ENOUGH_MEMORY = 4 << 30


def _home() -> Path:
    """Return the directory of all data.

    It is not in the tree: PostgreSQL never runs as root, and a home directory may not be accessible for its user.
    """
    found = os.statvfs(MEMORY) if os.access(MEMORY, os.W_OK) else None
    fits = found is not None and found.f_blocks * found.f_frsize >= ENOUGH_MEMORY
    return (MEMORY if fits else Path(tempfile.gettempdir())) / f"ironic-test-services-{os.getuid()}"


HOME = _home()
START_TIMEOUT = 90.0  # seconds

ALLOW_ROOT = os.getuid() == 0


class ServiceError(Exception):
    """A server can't be started; the text says what to do."""


@dataclass(frozen=True)
class Server:
    """One server: how to recognise its answer and how to start it in a directory of its own."""

    name: str
    package: str
    port: int
    greeting: bytes  # sent first; empty when the server sends first
    reply: Callable[[bytes], bool]
    program: str  # glob of the program that the package installs
    prepare: Callable[[str, Path], None]
    command: Callable[[str, Path], list[str]]
    environment: Mapping[str, str] = field(default_factory=dict)
    farewell: tuple[str, ...] = ()  # ends processes that left the server's process group

    @property
    def directory(self) -> Path:
        """The directory of its data, output and process id."""
        return HOME / self.name.lower()

    @property
    def pid_file(self) -> Path:
        """The file with the process id of a server that was started here."""
        return self.directory / "started.pid"

    def answers(self) -> bool:
        """Return whether a server of this kind, and not another program, listens on the port."""
        try:
            with socket.create_connection((HOST, self.port), timeout=2) as connection:
                connection.settimeout(2)
                connection.sendall(self.greeting)
                return self.reply(connection.recv(64))
        except OSError:
            return False

    def start(self) -> None:
        """Start the server and wait until it answers; raises ServiceError."""
        programs = sorted(glob.glob(self.program))
        if not programs:
            raise ServiceError(f"{self.name} is not installed: apt-get install {self.package}")
        self.directory.mkdir(parents=True, exist_ok=True)
        self.prepare(programs[-1], self.directory)
        with (self.directory / "output").open("wb") as output:
            process = subprocess.Popen(
                self.command(programs[-1], self.directory),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env={**os.environ, "HOME": str(self.directory), **self.environment},
                start_new_session=True,
            )
        self.pid_file.write_text(str(process.pid))
        deadline = time.monotonic() + START_TIMEOUT
        while not self.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                tail = (self.directory / "output").read_text(errors="replace")[-2000:]
                raise ServiceError(f"{self.name} did not start on port {self.port}. The end of its output:\n{tail}")
            time.sleep(0.2)

    def stop(self) -> bool:
        """End the server that was started here with its child processes; return whether there was one."""
        if not self.pid_file.exists():
            return False
        group = int(self.pid_file.read_text())
        self.pid_file.unlink()
        if not _lives_in(group, self.directory):
            return False
        for deadly in (signal.SIGTERM, signal.SIGKILL):
            if not _signal(group, deadly):
                break
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline and _signal(group, 0):
                time.sleep(0.1)
        if self.farewell:
            subprocess.run(self.farewell, capture_output=True)
        return True


def _lives_in(pid: int, directory: Path) -> bool:
    """Return whether the process was started in the directory: after a reboot another one may have the number."""
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(directory)
    except OSError:
        return False


def _signal(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def _nothing(program: str, directory: Path) -> None:
    """Most servers need no preparation."""


def _as_postgres(command: list[str]) -> list[str]:
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command] if ALLOW_ROOT else command


def _prepare_mariadb(program: str, directory: Path) -> None:
    if not (directory / "data" / "mysql").exists():
        _run(
            "mariadb-install-db",
            "--no-defaults",
            *(["--user=root"] if ALLOW_ROOT else []),
            f"--datadir={directory}/data",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        )


def _mariadb(program: str, directory: Path) -> list[str]:
    return [
        program,
        "--no-defaults",
        *(["--user=root"] if ALLOW_ROOT else []),
        f"--datadir={directory}/data",
        f"--socket={directory}/socket",
        f"--port={MARIADB_PORT}",
        f"--bind-address={HOST}",
        # Tests need no durability.
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-flush-method=nosync",
        "--innodb-doublewrite=0",
        "--skip-log-bin",
        # As Debian's configuration has it.
        "--character-set-server=utf8mb4",
        "--collation-server=utf8mb4_general_ci",
    ]


def _prepare_postgresql(program: str, directory: Path) -> None:
    if ALLOW_ROOT:
        shutil.chown(directory, "postgres", "postgres")
    if not (directory / "data").exists():
        initdb = str(Path(program).with_name("initdb"))
        _run(*_as_postgres([initdb, "-D", f"{directory}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8"]))


def _postgresql(program: str, directory: Path) -> list[str]:
    place = ("listen_addresses=127.0.0.1", f"port={POSTGRESQL_PORT}", f"unix_socket_directories={directory}")
    settings = (*place, "fsync=off", "full_page_writes=off", "synchronous_commit=off")
    return _as_postgres([program, "-D", f"{directory}/data", *(part for text in settings for part in ("-c", text))])


def _prepare_rabbitmq(program: str, directory: Path) -> None:
    (directory / "plugins").write_text("[].")
    (directory / "rabbitmq.conf").write_text(f"listeners.tcp.default = {HOST}:5672\n")


_RABBIT = HOME / "rabbitmq"

SERVERS = (
    Server(
        name="MariaDB",
        package="mariadb-server",
        port=MARIADB_PORT,
        greeting=b"",
        reply=lambda said: b"MariaDB" in said,
        program="/usr/sbin/mariadbd",
        prepare=_prepare_mariadb,
        command=_mariadb,
    ),
    Server(
        name="PostgreSQL",
        package="postgresql",
        port=POSTGRESQL_PORT,
        greeting=b"\x00\x00\x00\x08\x04\xd2\x16\x2f",  # a request for TLS, which only PostgreSQL understands
        reply=lambda said: said in (b"S", b"N"),
        program="/usr/lib/postgresql/*/bin/postgres",
        prepare=_prepare_postgresql,
        command=_postgresql,
    ),
    Server(
        name="RabbitMQ",
        package="rabbitmq-server",
        port=5672,
        greeting=b"AMQP\x00\x00\x09\x01",
        reply=lambda said: said.startswith(b"\x01\x00\x00"),
        # The wrappers in /usr/sbin insist on the rabbitmq user; these do not.
        program="/usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server",
        prepare=_prepare_rabbitmq,
        command=lambda program, directory: [program],
        # A node name, a cookie (in HOME) and an epmd of its own separate it from other brokers of this machine.
        environment={
            "RABBITMQ_NODENAME": "ironic-tests@localhost",
            "RABBITMQ_DIST_PORT": "25679",
            "ERL_EPMD_PORT": "43691",
            "ERL_EPMD_ADDRESS": HOST,
            "RABBITMQ_MNESIA_BASE": f"{_RABBIT}/mnesia",
            "RABBITMQ_LOG_BASE": f"{_RABBIT}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{_RABBIT}/plugins",
            "RABBITMQ_CONFIG_FILE": f"{_RABBIT}/rabbitmq",
            "RABBITMQ_CONF_ENV_FILE": f"{_RABBIT}/none",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}",
        },
        farewell=("epmd", "-port", "43691", "-kill"),
    ),
)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=HOME)
    if done.returncode:
        raise ServiceError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


def start() -> int:
    """Start all servers; report every one that can't be started, not just the first."""
    HOME.mkdir(mode=0o755, exist_ok=True)
    faults = 0
    for server in SERVERS:
        try:
            if server.answers():
                print(f"{server.name} answers on {HOST}:{server.port}")
            else:
                began = time.monotonic()
                server.start()
                print(f"{server.name} started on {HOST}:{server.port} in {time.monotonic() - began:.1f} s")
        except ServiceError as fault:
            faults += 1
            print(fault, file=sys.stderr)
    return 1 if faults else 0


def stop() -> int:
    """End the servers that were started here."""
    for server in SERVERS:
        if server.stop():
            print(f"{server.name} stopped")
    return 0


if __name__ == "__main__":
    actions = {"start": start, "stop": stop}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit(__doc__)
    sys.exit(actions[sys.argv[1]]())

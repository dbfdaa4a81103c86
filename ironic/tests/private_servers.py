"""A RabbitMQ, a MariaDB and a memcached of a test's own, which it may stop and start: shared ones are never touched.

They live in a directory of the test, on ports that were free. They end with the test, by the process they were
started as.
"""

import glob
import os
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote_to_bytes

from ironic.tests import sasl_users
from ironic.tests.live_service import free_port

PATIENCE = 90.0
ROOT = os.getuid() == 0


class PrivateServer:
    """One server that can be started and stopped any number of times; its data stays in between."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.port = directory, free_port()
        directory.mkdir()
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """Return what starts it in the foreground."""
        raise TypeError("a kind of server says how it is started")

    def environment(self) -> dict[str, str]:
        """Return what it needs to know beside that."""
        return {}

    def greets(self, connection: socket.socket) -> bool:
        """Return whether a server of this kind answers."""
        raise TypeError("a kind of server says how it answers")

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.start_soon()
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process and self._process.poll() is None, (self.directory / "output").read_text()[-3000:]
            assert time.monotonic() < deadline, f"{self.command()[0]} did not answer"
            time.sleep(0.1)

    def start_soon(self) -> None:
        """Start it, without waiting until it answers."""
        with (self.directory / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env={**os.environ, "HOME": str(self.directory), **self.environment()},
                start_new_session=True,
            )

    def stop(self) -> None:
        """End it in order, if it runs."""
        process, self._process = self._process, None
        if process and process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def kill(self) -> None:
        """End it as a power cut would, with all it has started."""
        process, self._process = self._process, None
        if process and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def freeze(self) -> None:
        """Let it accept connections and never answer; only `kill` ends it then."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                return self.greets(connection)
        except OSError:
            return False


class Broker(PrivateServer):
    """RabbitMQ, with a name and a port mapper of its own."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._epmd_port, self._node_port = free_port(), free_port()
        (directory / "plugins").write_text("[].")
        (directory / "rabbitmq.conf").write_text(f"listeners.tcp.default = 127.0.0.1:{self.port}\n")

    @property
    def url(self) -> str:
        """Where services find it."""
        return f"rabbit://guest:guest@127.0.0.1:{self.port}/"

    def command(self) -> list[str]:
        # The wrapper in /usr/sbin insists on the rabbitmq user; this one does not.
        return [sorted(glob.glob("/usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server"))[-1]]

    def environment(self) -> dict[str, str]:
        return {
            "RABBITMQ_NODENAME": f"private{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._node_port),
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_MNESIA_BASE": f"{self.directory}/mnesia",
            "RABBITMQ_LOG_BASE": f"{self.directory}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.directory}/plugins",
            "RABBITMQ_CONFIG_FILE": f"{self.directory}/rabbitmq",
            "RABBITMQ_CONF_ENV_FILE": f"{self.directory}/none",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}",
        }

    def greets(self, connection: socket.socket) -> bool:
        connection.sendall(b"AMQP\x00\x00\x09\x01")
        return connection.recv(8).startswith(b"\x01\x00\x00")

    def end(self) -> None:
        """End it for good, with the port mapper that it has left running."""
        self.stop()
        port_mapper = {**os.environ, "ERL_EPMD_PORT": str(self._epmd_port), "HOME": str(self.directory)}
        subprocess.run(["epmd", "-port", str(self._epmd_port), "-kill"], env=port_mapper, capture_output=True)


class Database(PrivateServer):
    """MariaDB with one empty database; a durable one loses nothing that was committed when it is killed.

    With a certificate it talks TLS only.
    """

    NAME = "ironic"
    durable = False
    # The files of one and its key.
    certificate: tuple[str, str] | None = None

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._run(
            "mariadb-install-db",
            *self._settings(),
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        )

    @property
    def url(self) -> str:
        """Where services find it."""
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/{self.NAME}"

    def command(self) -> list[str]:
        address = [f"--port={self.port}", "--bind-address=127.0.0.1,::1", f"--socket={self.directory}/socket"]
        if self.certificate:
            file, key = self.certificate
            address += ["--require-secure-transport", f"--ssl-cert={file}", f"--ssl-key={key}"]
        bootstrap = self.directory / "first.sql"
        bootstrap.write_text(f"CREATE DATABASE IF NOT EXISTS {self.NAME};\n")
        flushing = f"--innodb-flush-log-at-trx-commit={int(self.durable)}"
        cheap = [flushing, "--skip-log-bin", f"--init-file={bootstrap}"]
        return ["/usr/sbin/mariadbd", *self._settings(), *address, *cheap]

    def _settings(self) -> list[str]:
        return ["--no-defaults", *(["--user=root"] if ROOT else []), f"--datadir={self.directory}/data"]

    def greets(self, connection: socket.socket) -> bool:
        return b"MariaDB" in connection.recv(128)

    def end(self) -> None:
        """End it for good."""
        self.stop()

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, cwd=self.directory)


class Memcached(PrivateServer):
    """Memcached, empty at every start; with a certificate it talks TLS only, with a user to that one only."""

    certificate: tuple[str, str] | None = None
    # Name and password.
    user: tuple[str, str] | None = None

    @property
    def address(self) -> str:
        """Where clients find it."""
        return f"127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        as_root = ["-u", "root"] if ROOT else []
        tls = ["-Z", "-o", "ssl_chain_cert={},ssl_key={}".format(*self.certificate)] if self.certificate else []
        sasl = ["-S"] if self.user else []
        address = ["-l", "127.0.0.1", "-p", str(self.port), "-U", "0"]
        return ["memcached", *as_root, *address, "-m", "16", "-t", "1", *tls, *sasl]

    def environment(self) -> dict[str, str]:
        return sasl_users.add_user("memcached", self.directory / "sasl", *self.user) if self.user else {}

    def greets(self, connection: socket.socket) -> bool:
        if self.user:
            # Then it has the binary protocol only; the version is for everyone.
            connection.sendall(bytes([0x80, 0x0B]).ljust(24, b"\0"))
            return connection.recv(2) == bytes([0x81, 0x0B])
        if self.certificate:
            connection = ssl.create_default_context(cafile=self.certificate[0]).wrap_socket(
                connection, server_hostname="127.0.0.1"
            )
        connection.sendall(b"version\r\n")
        return connection.recv(64).startswith(b"VERSION")

    def values(self) -> list[bytes]:
        """Return all that is stored, each with its key, as memcached sends it."""
        keys = [word for line in self._ask(b"lru_crawler metadump all") for word in line.split() if b"key=" in word]
        names = [unquote_to_bytes(key.removeprefix(b"key=")) for key in keys]
        return [b"\n".join(self._ask(b"get " + name)) for name in names]

    def _ask(self, command: bytes) -> list[bytes]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(command + b"\r\n")
            answer = b""
            while not answer.endswith(b"END\r\n"):
                assert (more := connection.recv(65536)), answer
                answer += more
        return answer.splitlines()[:-1]


@contextmanager
def memcached(
    directory: Path, certificate: tuple[str, str] | None = None, user: tuple[str, str] | None = None
) -> Iterator[Memcached]:
    """Run a memcached until the block ends.

    ``certificate`` are the files of one and its key, for TLS; ``user`` has a name and a password, for SASL.
    """
    server = Memcached(directory)
    server.certificate, server.user = certificate, user
    try:
        server.start()
        yield server
    finally:
        server.kill()


@contextmanager
def private_servers(directory: Path) -> Iterator[tuple[Broker, Database]]:
    """Give a broker and a database that were not started yet, and end them when the block does."""
    broker, database = Broker(directory / "broker"), Database(directory / "database")
    try:
        yield broker, database
    finally:
        broker.end()
        database.end()

"""A real Keystone on the loopback, with a user for every role and scope that tests of access need.

    python tools/keystone_server.py install
    python tools/keystone_server.py serve [--port 5000] [--baremetal http://127.0.0.1:6385]

`install` makes its environment, `.venv-keystone`, and in it a database with the users of
`ironic/tests/data/personas.yaml`. `serve` copies that database, starts a server on it and says how to log in; it needs
no network but the loopback. Tests start servers of their own through `serving`.
"""

import argparse
import contextlib
import dataclasses
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import environments
import requests
import yaml

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venv-keystone"
_DATA = HOME / "data"
# With the clients of doc/access.md.
PACKAGES = ("keystone==30.0.0", "waitress>=3,<4", "python-openstackclient>=8,<11", "python-ironicclient>=5.8,<7")
PERSONAS = ROOT / "ironic" / "tests" / "data" / "personas.yaml"
HOST = "127.0.0.1"
ADMIN_PASSWORD = "admin"
REGION = "RegionOne"
START_TIMEOUT = 90.0  # seconds
# Seconds that a request of this program may take.
PATIENCE = 60

_CONFIGURATION = """\
[DEFAULT]
log_file = {directory}/keystone.log
[database]
connection = sqlite:///{directory}/keystone.db
[fernet_tokens]
key_repository = {directory}/keys
[fernet_receipts]
key_repository = {directory}/keys
[credential]
key_repository = {directory}/keys
[identity]
password_hash_rounds = 4
[token]
expiration = {token_seconds}
"""
# One thread: SQLite has one writer, and a second one gets an error instead of waiting its turn.
_SERVER = """\
import sys
from keystone.wsgi.api import application
import waitress
waitress.serve(application, host=%r, port=%d, threads=1)
"""


@dataclasses.dataclass(frozen=True)
class Persona:
    """A user, whose password is the name, with one role; ``scope`` is `system`, `domain`, or the name of a project."""

    name: str
    role: str
    scope: str

    def variables(self, url: str) -> dict[str, str]:
        """Return the environment of a client of this user."""
        scope = {"OS_PROJECT_NAME": self.scope, "OS_PROJECT_DOMAIN_ID": "default"}
        if self.scope == "system":
            scope = {"OS_SYSTEM_SCOPE": "all"}
        elif self.scope == "domain":
            scope = {"OS_DOMAIN_ID": "default"}
        who = {"OS_USERNAME": self.name, "OS_PASSWORD": self.name, "OS_USER_DOMAIN_ID": "default"}
        return {"OS_AUTH_TYPE": "password", "OS_AUTH_URL": url, "OS_IDENTITY_API_VERSION": "3", **who, **scope}

    @property
    def token_scope(self) -> dict[str, Any]:
        """The scope in a request for a token."""
        if self.scope == "system":
            return {"system": {"all": True}}
        if self.scope == "domain":
            return {"domain": {"id": "default"}}
        return {"project": {"name": self.scope, "domain": {"id": "default"}}}


def personas() -> dict[str, Persona]:
    """Return the users by name."""
    return _users("personas")


def _users(section: str) -> dict[str, Persona]:
    return {name: Persona(name, **each) for name, each in _read()[section].items()}


def _read() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(PERSONAS.read_text())
    return read


class Keystone:
    """A running server; `stop` ends it, and `start` starts it again on the same data."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory, self.port = directory, port
        self._process: subprocess.Popen[bytes] | None = None
        self.configure()

    def configure(self, token_seconds: int = 3600) -> None:
        """Write the configuration for the next start."""
        text = _CONFIGURATION.format(directory=self.directory, token_seconds=token_seconds)
        (self.directory / "keystone.conf").write_text(text)

    @property
    def url(self) -> str:
        """The URL of its API, with the version."""
        return f"http://{HOST}:{self.port}/v3"

    def start(self) -> Self:
        """Start it and wait until it answers."""
        program: list[str | Path] = [_python(), "-W", "ignore", "-c", _SERVER % (HOST, self.port)]
        with (self.directory / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [*program, "--config-file", self.directory / "keystone.conf"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
            )
        deadline = time.monotonic() + START_TIMEOUT
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                tail = (self.directory / "output").read_text(errors="replace")[-3000:]
                raise RuntimeError(f"Keystone did not start on port {self.port}. The end of its output:\n{tail}")
            time.sleep(0.05)
        return self

    def _answers(self) -> bool:
        try:
            return requests.get(self.url, timeout=PATIENCE).ok
        except requests.ConnectionError:
            return False

    def stop(self) -> None:
        """End the server; safe for one that has ended."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def trust(self) -> dict[str, object]:
        """Return the options of [keystone_authtoken] with which a service checks tokens here."""
        who = _users("service_users")["ironic"]
        return {
            "www_authenticate_uri": self.url.removesuffix("/v3"),
            "auth_url": self.url.removesuffix("/v3"),
            "auth_type": "password",
            "username": who.name,
            "password": who.name,
            "user_domain_name": "Default",
            "project_name": who.scope,
            "project_domain_name": "Default",
        }

    def token(self, who: Persona, password: str | None = None) -> str:
        """Return a new token for a user; the password is the name unless given."""
        user = {"name": who.name, "password": password or who.name, "domain": {"id": "default"}}
        identity = {"methods": ["password"], "password": {"user": user}}
        answer = requests.post(
            f"{self.url}/auth/tokens",
            json={"auth": {"identity": identity, "scope": who.token_scope}},
            timeout=PATIENCE,
        )
        answer.raise_for_status()
        return str(answer.headers["X-Subject-Token"])

    def administrator(self) -> "Administrator":
        """Return the site's administrator, logged in."""
        return Administrator(self.url, self.token(Persona("admin", "admin", "system")))


class Administrator:
    """Who may change everything in Keystone."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._headers = url, {"X-Auth-Token": token}

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request; return the answer's document, None without one; raises HTTPError."""
        answer = requests.request(method, f"{self._url}/{path}", json=body, headers=self._headers, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def create(self, collection: str, kind: str, **values: Any) -> str:
        """Create something and return its ID."""
        return str(self.call("POST", collection, {kind: values})[kind]["id"])

    def ids(self, collection: str) -> dict[str, str]:
        """Return the IDs of a collection by name."""
        return {each["name"]: each["id"] for each in self.call("GET", collection)[collection]}

    def offer(self, kind: str, name: str, url: str) -> None:
        """Put the address of a service into the catalog, in the place of an earlier one."""
        services = self.ids("services")
        service = services.get(name) or self.create("services", "service", type=kind, name=name)
        for each in self.call("GET", f"endpoints?service_id={service}")["endpoints"]:
            self.call("DELETE", f"endpoints/{each['id']}")
        for interface in ("public", "internal", "admin"):
            self.create("endpoints", "endpoint", service_id=service, interface=interface, region_id=REGION, url=url)

    def enrol(self) -> None:
        """Create the users, projects and roles of the tests."""
        read = _read()
        projects = {name: self.create("projects", "project", name=name) for name in read["projects"]}
        self.create("roles", "role", name=read["role_without_rights"])
        roles = self.ids("roles")
        for who in (personas() | _users("service_users")).values():
            user = self.create("users", "user", name=who.name, password=who.name)
            place = {"system": "system", "domain": "domains/default"}.get(who.scope)
            place = place or f"projects/{projects[who.scope]}"
            self.call("PUT", f"{place}/users/{user}/roles/{roles[who.role]}")


def _python() -> Path:
    return HOME / "bin" / "python"


def install() -> None:
    """Make the environment and the database, if need be."""
    HOME.mkdir(exist_ok=True)
    environments.ensure(
        HOME, [text.encode() for text in (*PACKAGES, sys.version)], lambda home: environments.install(home, PACKAGES)
    )
    _DATA.mkdir(exist_ok=True)
    environments.ensure(_DATA, [PERSONAS.read_bytes(), Path(__file__).read_bytes()], _make_data)


def _make_data(directory: Path) -> None:
    with tempfile.TemporaryDirectory(dir=HOME) as name:
        fresh = Path(name)
        (fresh / "keys").mkdir(mode=0o700)
        keystone = Keystone(fresh, free_port())
        manage: list[str | Path] = [_python(), "-W", "ignore", HOME / "bin" / "keystone-manage"]
        manage += ["--config-file", fresh / "keystone.conf"]
        owner = ["--keystone-user", pwd.getpwuid(os.getuid()).pw_name]
        owner += ["--keystone-group", grp.getgrgid(os.getgid()).gr_name]
        environments.run(*manage, "db_sync")
        # Keys of tokens serve for everything else, too.
        environments.run(*manage, "fernet_setup", *owner)
        environments.run(
            *manage, "bootstrap", f"--bootstrap-password={ADMIN_PASSWORD}", f"--bootstrap-region-id={REGION}"
        )
        keystone.start()
        try:
            keystone.administrator().enrol()
        finally:
            keystone.stop()
        shutil.rmtree(directory / "keys", ignore_errors=True)
        for part in ("keys", "keystone.db"):
            (fresh / part).replace(directory / part)


def free_port() -> int:
    """Return a free port of the loopback."""
    with contextlib.closing(socket.create_server((HOST, 0))) as probe:
        port: int = probe.getsockname()[1]
    return port


@contextlib.contextmanager
def serving(directory: Path, port: int | None = None, *, baremetal: str | None = None) -> Iterator[Keystone]:
    """Run a server with a copy of the data; ``baremetal`` is the URL of the service for its catalog."""
    install()
    shutil.copytree(_DATA, directory, dirs_exist_ok=True)
    keystone = Keystone(directory, port or free_port()).start()
    try:
        administrator = keystone.administrator()
        administrator.offer("identity", "keystone", keystone.url)
        if baremetal:
            administrator.offer("baremetal", "ironic", baremetal)
        yield keystone
    finally:
        keystone.stop()


def _serve(port: int, baremetal: str) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="ironic-keystone-") as directory,
        serving(Path(directory), port, baremetal=baremetal) as keystone,
    ):
        print(f"Keystone serves {keystone.url}; Ctrl-C ends it. Its users, each with its name as its password:\n")
        for who in personas().values():
            print(f"  {who.name:18} role {who.role:9} {who.scope}")
        print("\nTo be one of them:\n")
        variables = personas()["system-admin"].variables(keystone.url)
        print("  export", *(f"{key}={value}" for key, value in variables.items()), flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


def main() -> int:
    """Install or serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["install", "serve"])
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--baremetal", default="http://127.0.0.1:6385", help="URL of the service, for the catalog")
    arguments = parser.parse_args()
    if arguments.action == "install":
        install()
    else:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        _serve(arguments.port, arguments.baremetal)
    return 0


if __name__ == "__main__":
    sys.exit(main())

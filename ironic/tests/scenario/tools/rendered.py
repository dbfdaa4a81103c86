"""A file as a deployment tool renders it, and the tool's own ways: its jobs, its programs, its web servers, its probes.

What belongs to the place of the test is in the environment of the programs, so that the file stays as it is rendered.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ironic.tests.forked_programs import ForkedProgram
from ironic.tests.live_service import PROGRAMS, Service, free_port, listens
from ironic.tests.site import eventually

DATA = Path(__file__).parents[2] / "data"
# What Kolla-Ansible, OpenStack-Ansible and OpenStack-Helm have in common.
_UWSGI = """\
[uwsgi]
http-socket = 127.0.0.1:{port}
master = true
processes = {processes}
threads = 2
enable-threads = true
lazy-apps = true
thunder-lock = true
die-on-term = true
exit-on-reload = true
need-app = true
buffer-size = 65535
worker-reload-mercy = 80
add-header = Connection: close
{callable}
logto = {directory}/uwsgi.log
"""
_NGINX = """
daemon off;
master_process off;
pid {directory}/nginx.pid;
error_log {directory}/nginx.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {directory}/bodies;
    proxy_temp_path {directory}/answers;
    fastcgi_temp_path {directory}/f;
    uwsgi_temp_path {directory}/u;
    scgi_temp_path {directory}/s;
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://unix:{door}; }}
    }}
}}
"""


# A container whose root can only be read, with one directory that can be written; $0 is that one.
_READ_ONLY = """\
mount --bind "$0" "$0" && mount -o remount,bind,ro / &&
exec setpriv --reuid 997 --regid 994 --clear-groups --inh-caps +dac_read_search --ambient-caps +dac_read_search "$@"
"""


def read_only_root(directory: Path) -> list[str]:
    """Return the command that starts another one as the user of Metal3's image, who may write a directory only.

    The user may read all, as the programs of the test may lie in the home directory of another one. Only root can start
    a program like this.
    """
    os.chown(directory, 997, 994)
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", _READ_ONLY, str(directory)]


@dataclass(frozen=True)
class Api:
    """Where an API answers."""

    url: str


class Tool:
    """A directory with the file of a tool, and what the tool has started there; all ends with the block.

    ``words`` are the options by which the tool names its configuration, ``changes`` are lines of the rendered file and
    what stands in their place. ``within`` is a command that becomes each program.
    """

    def __init__(self, name: str, directory: Path, changes: Sequence[tuple[str, str]] = ()) -> None:
        self.directory, self._stack = directory, ExitStack()
        self.file = directory / "ironic.conf"
        self.words = ["--config-file", str(self.file)]
        self.within: list[str] = []
        text = (DATA / f"{name}.conf").read_text().replace("@STATE_DIR@", str(directory))
        for line, instead in changes:
            assert f"\n{line}\n" in text, line
            text = text.replace(f"\n{line}\n", f"\n{instead}\n")
        self.file.write_text(text)
        self.port = free_port()
        self.api = Api(f"http://127.0.0.1:{self.port}")
        self.environment = {
            "OS_OUTGOING__ALLOW_LOOPBACK": "true",
            "OS_DEPLOY__HTTP_SERVER_PORT": "0",
            # The usual five seconds between two commands to a BMC are for slow ones.
            "OS_IPMI__MIN_COMMAND_INTERVAL": "0",
            "OS_AGENT__POST_DEPLOY_GET_POWER_STATE_RETRIES": "0",
            "OS_SERVICE_CATALOG__ENDPOINT_OVERRIDE": self.api.url,
        }

    def __enter__(self) -> "Tool":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def directories(self) -> dict[str, str]:
        """Return the environment that names directories below this one, for a file that leaves them to the image."""
        return {
            "OS_DEFAULT__STATE_PATH": str(self.directory),
            "OS_PXE__TFTP_ROOT": f"{self.directory}/tftpboot",
            "OS_PXE__TFTP_MASTER_PATH": f"{self.directory}/tftpboot/master_images",
            "OS_PXE__IMAGES_PATH": f"{self.directory}/images",
            "OS_PXE__INSTANCE_MASTER_PATH": f"{self.directory}/master_images",
            "OS_DEPLOY__HTTP_ROOT": f"{self.directory}/httpboot",
            "OS_DEPLOY__HTTP_URL": "http://127.0.0.1:8080",
        }

    def run(self, program: str, *words: str) -> tuple[int, str]:
        """Run a program of a job to its end; return its exit status and what it printed."""
        command = [*self.within, str(PROGRAMS / program), *self.words, *words]
        variables = {**os.environ, **self.environment}
        if self.within:
            ended = subprocess.run(
                command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
            )
            return ended.returncode, ended.stdout
        started = ForkedProgram(command, variables)
        printed, _ = started.communicate(timeout=120)
        return started.wait(), printed

    def version(self) -> str:
        """Return what `ironic-dbsync version` prints to a script that compares it; the log goes elsewhere."""
        command = [*self.within, str(PROGRAMS / "ironic-dbsync"), *self.words, "version"]
        return subprocess.run(
            command, env={**os.environ, **self.environment}, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def start(self, program: str, *, log: str = "", from_scratch: bool = False, words: Sequence[str] = ()) -> Service:
        """Start a program, which ends with the block at the latest; ``log`` is the file that it logs to."""
        # A fork has not the name by which a program of its own would call its log.
        named = {} if log else {"OS_DEFAULT__LOG_FILE": f"{self.directory}/{program}.log"}
        service = Service(
            program,
            [],
            self.directory / (log or f"{program}.log"),
            self.port,
            {**self.environment, **named},
            from_scratch=from_scratch,
            words=[*self.words, *words],
            within=self.within,
        )
        self._stack.callback(service.stop)
        return service

    def refusal(self, program: str) -> str:
        """Start a program that refuses the configuration; return what it printed."""
        status, printed = self.run(program)
        assert status == 1, printed
        return printed

    def serve(self, prefix: str = "", processes: int = 1) -> None:
        """Serve the API below a prefix by uWSGI; its processes read the configuration from its file."""
        program = "module = ironic.wsgi:application"
        if prefix:
            program = f"mount = {prefix}=ironic.wsgi:application\nmanage-script-name = true"
        configuration = self.directory / "uwsgi.ini"
        values = {"port": self.port, "processes": processes, "callable": program, "directory": self.directory}
        configuration.write_text(_UWSGI.format(**values))
        self.api = Api(f"{self.api.url}{prefix}")
        self.environment["OS_SERVICE_CATALOG__ENDPOINT_OVERRIDE"] = self.api.url
        variables = {**os.environ, **self.environment, "IRONIC_CONFIG_FILE": str(self.file)}
        words = [str(PROGRAMS / "uwsgi"), "--ini", str(configuration)]
        server = self._stack.enter_context(subprocess.Popen(words, env=variables, stdin=subprocess.DEVNULL))
        self._stack.callback(server.terminate)
        eventually(lambda: server.poll() is not None or listens(self.port), True)
        assert server.poll() is None, (self.directory / "uwsgi.log").read_text()

    def proxy(self, door: Path) -> None:
        """Run nginx in front of the service's socket."""
        program = shutil.which("nginx", path="/usr/sbin:/usr/bin")
        assert program, "nginx is missing: run tools/packages.sh"
        # Not *.conf: a tool may name the directory as that of the service's configuration.
        configuration = self.directory / "nginx.configuration"
        configuration.write_text(_NGINX.format(directory=self.directory, port=self.port, door=door))
        words = [program, "-e", f"{self.directory}/nginx.log", "-p", str(self.directory), "-c", str(configuration)]
        server = self._stack.enter_context(subprocess.Popen(words))
        self._stack.callback(server.terminate)
        eventually(lambda: listens(self.port), True)


class Manager:
    """The end of NOTIFY_SOCKET at which a service manager reads."""

    def __init__(self, address: Path, reader: socket.socket) -> None:
        self.environment = {"NOTIFY_SOCKET": str(address)}
        self._reader = reader

    def next(self) -> str:
        """Return the next message."""
        return self._reader.recv(200).decode()


@contextmanager
def service_manager(directory: Path) -> Iterator[Manager]:
    """Listen as a service manager does, for units of Type=notify."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reader:
        reader.bind(str(directory / "notify"))
        reader.settimeout(60)
        yield Manager(directory / "notify", reader)

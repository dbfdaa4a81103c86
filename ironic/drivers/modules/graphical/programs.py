"""Programs that containers are started with: run within a time, without a shell; and templates of the operator."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ironic.conf import CONF
from ironic.core.clock import CLOCK
from ironic.core.errors.hardware_errors import ConsoleContainerError
from ironic.core.secrets.masking import masked_text
from ironic.drivers.modules.graphical.containers import Address

# What the programs take from the environment of the service. In a pod, the last two lead kubectl to its cluster.
_KEPT: Final = (
    "PATH",
    "HOME",
    "TZ",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
)
_SECONDS: Final = 120.0
_SAID: Final = 500
# "RFB 003.008" and a line feed; every server begins with so many bytes.
_GREETING: Final = 12
_GREETING_SECONDS: Final = 5.0


class Programs:
    """Runs the programs of one provider, whose errors name it."""

    def __init__(self, provider: str, *needed: str) -> None:
        self._provider = provider
        for program in needed:
            if shutil.which(program) is None:
                raise self.failed(f"program {program} is not installed")

    def failed(self, reason: str) -> ConsoleContainerError:
        """Return the error with a reason."""
        return ConsoleContainerError(provider=self._provider, reason=reason)

    def run(
        self,
        arguments: Sequence[str],
        variables: Mapping[str, str] | None = None,
        *,
        text: str | None = None,
        seconds: float = _SECONDS,
    ) -> str:
        """Return what a program writes; raise ConsoleContainerError with what it said when it fails."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        what = " ".join(arguments[:2])
        try:
            with subprocess.Popen(
                arguments,
                env={**kept, **(variables or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                # A group of its own: what the program has started is killed with it.
                start_new_session=True,
            ) as process:
                try:
                    output, errors = process.communicate(text or "", seconds)
                except BaseException:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    raise
        except subprocess.TimeoutExpired as error:
            raise self.failed(f"{what} did not end within {seconds:.0f} seconds and was killed") from error
        except (OSError, ValueError) as error:
            raise self.failed(f"{what} can't be run: {error}") from error
        if process.returncode:
            said = masked_text(errors.strip()[-_SAID:])
            raise self.failed(f"{what} ended with exit code {process.returncode}: {said}")
        return output

    def template(self, path: str) -> str:
        """Return a template of the operator, whose syntax was checked."""
        try:
            text = Path(path).read_text()
            _JINJA.parse(text)
        except (OSError, ValueError, jinja2.TemplateError) as error:
            raise self.failed(f"template {path} can't be used: {error}") from error
        return text

    def render(self, template: str, values: Mapping[str, object]) -> str:
        """Return a template with its values."""
        try:
            return _JINJA.from_string(template).render(values)
        except jinja2.TemplateError as error:
            raise self.failed(f"a template can't be filled: {error}") from error

    def image(self) -> str:
        """Return the image of the containers."""
        image: str | None = CONF.vnc.console_image
        if not image:
            raise self.failed("[vnc]console_image is not set")
        return image

    def await_vnc(self, address: Address) -> None:
        """Wait until a VNC server greets; raise ConsoleContainerError when none does in time."""
        seconds = CONF.vnc.wait_for_ready_timeout
        if not CLOCK.until(lambda: _greets(address), timeout=seconds, interval=min(1.0, seconds / 10)):
            raise self.failed(f"nothing speaks VNC on {address[0]} port {address[1]} in time")


_JINJA: Final = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)


def _greets(address: Address) -> bool:
    try:
        with socket.create_connection(address, _GREETING_SECONDS) as connection:
            seen = b""
            while len(seen) < _GREETING and (more := connection.recv(_GREETING - len(seen))):
                seen += more
    except OSError:
        return False
    return seen.startswith(b"RFB ") and len(seen) == _GREETING

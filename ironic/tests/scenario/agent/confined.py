"""The real agent, made harmless from the inside; run by sandbox.py with the Python of the agent's environment.

It is the second and the third of three layers (the first is the sandbox, made of kernel features), and it refuses to go
on unless the first one is whole. Then

- the agent's command runner is replaced: one question about routes is really asked, a few tools get made-up answers
  about a regular file, poweroff and reboot end this process with exit status 10 or 11, everything else is refused;
- only the hardware manager of the tests is loaded;
- every HTTP exchange is written down, in both directions, without tokens and certificates.
"""

import glob
import io
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

WORK = os.environ.get("LOOPBACK_DIR", "")
POWERED_OFF, RESTARTED = 10, 11
# Long enough for the service to fetch the result of the command that ends the agent.
LEAVE_SECONDS = 1.0

# Tools that have nothing to say, and what others say about the file that plays the disk.
SILENT = frozenset({"sync", "udevadm", "partprobe", "blockdev", "partx", "hwclock", "sgdisk", "lsblk", "blkid"})
ONE_PARTITION = "BYT;\n{}:8MiB:file:512:512:msdos::;\n1:1.00MiB:7.00MiB:6.00MiB:ext4::boot;\n"

_REALLY_RUN = subprocess.run
_WRITING = threading.Lock()


# Layer 1, checked


def faults_of_the_sandbox() -> list[str]:
    """Return what is missing of the sandbox, in words."""
    found = ["it runs as root"] if 0 in (os.getuid(), os.geteuid()) else []
    with open("/proc/self/status") as file:
        for name, _, value in (line.partition(":") for line in file):
            if name in ("CapEff", "CapPrm", "CapBnd") and int(value, 16):
                found.append(f"it has capabilities: {name} {value.strip()}")
            if name == "NoNewPrivs" and value.strip() != "1":
                found.append("it may gain privileges")
    found += [f"there is a block device: {path}" for path in glob.glob("/dev/**", recursive=True) if is_block(path)]
    if os.access("/proc/sysrq-trigger", os.W_OK):
        found.append("it can write to sysrq-trigger")
    return found


def is_block(path: str) -> bool:
    """Return whether this is a block device."""
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except OSError:
        return False


# Layer 2: commands


def note(text: str) -> None:
    """Write down what would have been done."""
    with _WRITING, open(os.path.join(WORK, "actions.log"), "a") as file:
        file.write(f"{text}\n")


def refused(*args: Any, **how: Any) -> NoReturn:
    """Stand in for functions that run programs."""
    note(f"subprocess refused: {args[:1]!r}")
    raise FileNotFoundError(2, "No such file or directory")


def leave(status: int) -> None:
    """End this process after a moment."""
    time.sleep(LEAVE_SECONDS)
    os._exit(status)


def execute(*cmd: Any, **how: Any) -> tuple[str, str]:
    """Stand in for the agent's command runner: answer a command or refuse it."""
    from oslo_concurrency import processutils

    words = [str(word) for word in cmd]
    if words[:3] == ["ip", "route", "get"] and len(words) == 4:
        asked = _REALLY_RUN(words, capture_output=True, text=True, timeout=10)
        return asked.stdout, asked.stderr
    text = " ".join(words)
    note(f"command {text}")
    if how.get("shell") or "sysrq" in text:
        raise processutils.ProcessExecutionError(exit_code=126, stderr="refused", cmd=text)
    answer = answer_of(words)
    if answer is None:
        raise processutils.ProcessExecutionError(exit_code=127, stdout="", stderr="not available here", cmd=text)
    return answer, ""


def answer_of(words: list[str]) -> str | None:
    """Return what a command says; None for one that does not exist here."""
    name = os.path.basename(words[0]) if words else ""
    if name in ("poweroff", "reboot"):
        status = POWERED_OFF if name == "poweroff" else RESTARTED
        threading.Thread(target=leave, args=(status,), daemon=True).start()
        return ""
    if name in SILENT or words == ["efibootmgr", "--version"]:
        return ""
    if name == "parted":
        return ONE_PARTITION.format(words[-4])
    if name == "hexdump":
        return "0x1badb002"
    if name == "efibootmgr":
        raise FileNotFoundError(2, "No such file or directory", words[0])
    return None


def guard_commands() -> None:
    """Put the guards in place, before the agent is imported."""
    from oslo_concurrency import processutils

    processutils.execute = execute  # type: ignore[assignment]
    for name in ("run", "call", "check_call", "check_output"):
        setattr(subprocess, name, refused)
    os.system = refused


# Writing down what is said

SCRUBBED = (
    (re.compile(r'("agent_token"\s*:\s*")[A-Za-z0-9_\-]{16,}'), r"\1TOKEN-SCRUBBED"),
    (re.compile(r"(agent_token=)[A-Za-z0-9_\-]{16,}"), r"\1TOKEN-SCRUBBED"),
    (
        re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----(\\n|\n)?", re.DOTALL),
        "PEM-CERTIFICATE-SCRUBBED",
    ),
)


def record(**entry: Any) -> None:
    """Write an exchange down."""
    text = json.dumps(entry)
    for pattern, replacement in SCRUBBED:
        text = pattern.sub(replacement, text)
    with _WRITING, open(os.path.join(WORK, "wire.jsonl"), "a") as file:
        file.write(f"{text}\n")


def decoded(raw: str | bytes | None) -> Any:
    """Return a body as JSON, or the beginning of its text."""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text[:2000]


def record_calls() -> None:
    """Write down what the agent asks."""
    import requests

    plainly = requests.Session.send

    def send(self: Any, request: Any, **how: Any) -> Any:
        asked = {
            "at": time.time(),
            "to": "service",
            "method": request.method,
            "url": request.url,
            "body": decoded(request.body),
        }
        try:
            answer = plainly(self, request, **how)
        except Exception as error:
            record(**asked, error=type(error).__name__)
            raise
        content = None if how.get("stream") else decoded(answer.content)
        record(**asked, status=answer.status_code, answer=content)
        return answer

    requests.Session.send = send  # type: ignore[method-assign]


def record_answers() -> None:
    """Write down what the agent is asked."""
    from ironic_python_agent.api import app

    plainly = app.Application.__call__

    def answer(self: Any, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        at = time.time()
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        seen: dict[str, int] = {}

        def start(status: str, *more: Any) -> Any:
            seen["status"] = int(status.split()[0])
            return start_response(status, *more)

        content = b"".join(plainly(self, environ, start))
        url = f"{environ['wsgi.url_scheme']}://AGENT{environ['PATH_INFO']}"
        query = environ.get("QUERY_STRING")
        record(
            at=at,
            to="agent",
            method=environ["REQUEST_METHOD"],
            url=f"{url}?{query}" if query else url,
            body=decoded(body),
            status=seen.get("status"),
            answer=decoded(content),
        )
        return [content]

    app.Application.__call__ = answer


# Layer 3: hardware


def guard_hardware() -> None:
    """Load the hardware manager of the tests only; boot loader and network cards are left alone."""
    from ironic_python_agent import agent, efi_utils, hardware

    every = hardware._get_extensions

    def only_ours() -> list[Any]:
        return [each for each in every() if type(each.obj).__module__ == "loopback_hardware"]

    def no_boot_loader(device: Any, **how: Any) -> bool:
        note(f"boot loader for {device} {how}")
        return True

    hardware._get_extensions = only_ours
    efi_utils.manage_uefi = no_boot_loader
    agent.IronicPythonAgent._lockdown_system = lambda self: note("lockdown")


def main() -> None:
    """Run the agent."""
    if faults := faults_of_the_sandbox():
        sys.exit(f"The agent is not started, because its sandbox is not whole: {'; '.join(faults)}")
    guard_commands()
    record_calls()
    guard_hardware()
    record_answers()
    from ironic_python_agent.cmd import agent as command

    sys.argv = ["ironic-python-agent", "--config-file", os.path.join(WORK, "agent.conf")]
    command.run()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A stand-in for docker that shows empty screens: [vnc]container_executable of tests, which need no container.

    DOCKER_HOST=unix:///a/directory screens.py run --detach --name NAME --publish ADDRESS::5900 ... IMAGE
    screens.py ps --all --quiet|--format {{.Names}} --filter name=^/?NAME$|label=NAME=VALUE ...
    screens.py port NAME 5900/tcp | rm --force ID ...

A screen is an Xtigervnc on a free port of the loopback; its files are in the directory that DOCKER_HOST names.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


def home() -> Path:
    """Return the directory of the screens."""
    directory = Path(urlsplit(os.environ["DOCKER_HOST"]).path)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def screens() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield each screen with its file."""
    for path in sorted(home().glob("*.json")):
        yield path, json.loads(path.read_text())


def run(arguments: list[str]) -> None:
    """Start a screen and leave it running."""
    name = arguments[arguments.index("--name") + 1]
    labels = [word for before, word in zip(arguments, arguments[1:], strict=False) if before == "--label"]
    if not os.environ.get("APP"):
        raise SystemExit("the container would have no APP")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    display, said = os.pipe()
    options = ["-displayfd", str(said), "-rfbport", str(port), "-localhost", "-SecurityTypes", "None"]
    with (home() / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            ["Xtigervnc", *options, "-geometry", "320x240", "-depth", "24", "-desktop", "machine"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[said],
            start_new_session=True,
        )
    os.close(said)
    with os.fdopen(display) as answer:
        number = answer.readline().strip()
    if not number:
        raise SystemExit((home() / f"{name}.log").read_text())
    screen = {"name": name, "labels": labels, "port": port, "pid": process.pid, "display": f":{number}"}
    (home() / f"{name}.json").write_text(json.dumps(screen))
    print(name)


def chosen(conditions: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the screens that meet all conditions."""

    def meets(screen: dict[str, Any], condition: str) -> bool:
        kind, _, value = condition.partition("=")
        return re.search(value, screen["name"]) is not None if kind == "name" else value in screen["labels"]

    for _path, screen in screens():
        if all(meets(screen, condition) for condition in conditions):
            yield screen


def remove(names: list[str]) -> None:
    """End screens."""
    for path, screen in list(screens()):
        if screen["name"] in names:
            with suppress(ProcessLookupError):
                os.kill(screen["pid"], signal.SIGTERM)
            path.unlink()


def main(arguments: list[str]) -> None:
    """Do one of the commands."""
    match arguments:
        case ["run", *rest]:
            run(rest)
        case ["port", name, *_]:
            print(*(f"127.0.0.1:{screen['port']}" for _path, screen in screens() if screen["name"] == name))
        case ["ps", "--all", *options]:
            conditions = [word for before, word in zip(options, options[1:], strict=False) if before == "--filter"]
            print(*(screen["name"] for screen in chosen(conditions)), sep="\n")
        case ["rm", "--force", *names]:
            remove(names)
        case _:
            raise SystemExit(f"unknown command: {arguments}")


if __name__ == "__main__":
    main(sys.argv[1:])

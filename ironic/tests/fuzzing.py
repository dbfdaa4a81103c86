"""Schemathesis against a running service, driven by the service's own OpenAPI document.

`seeded` is a service with the fake driver over SQLite that has one of everything; `explore` lets the program loose on
it at one version, with words that mean something there, and returns what it found wrong. A run is bounded by the number
of examples, so that the same seed sends the same requests however busy the machine is.
"""

import contextlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from ironic.tests.live_service import PROGRAMS, Options, Service, all_in_one, free_port, write_options

VERSION_HEADER = "X-OpenStack-Ironic-API-Version"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "use_after_free",
    # Not ensure_resource_availability: a new node has no allocation, which is a 404 below a path that is there.
)
NODE = "11111111-0000-4000-8000-000000000001"
CHASSIS = "22222222-0000-4000-8000-000000000001"
STEP: dict[str, Any] = {"interface": "deploy", "step": "erase_devices", "args": {}}

KINDS = ("bios", "boot", "console", "deploy", "firmware", "inspect", "management", "power", "raid", "rescue", "vendor")
OPTIONAL = ("bios", "console", "firmware", "inspect", "raid", "rescue", "vendor")


def _options(directory: Path, port: int) -> Options:
    enabled = {f"enabled_{kind}_interfaces": f"fake,no-{kind}" if kind in OPTIONAL else "fake" for kind in KINDS}
    return {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "host": "conductor-1",
            "state_path": directory,
            "log_file": directory / "service.log",
            "use_stderr": "false",
            "enabled_hardware_types": "fake-hardware",
            "enabled_network_interfaces": "noop",
            "enabled_storage_interfaces": "noop,fake",
            **enabled,
        },
        "api": {"host_ip": "127.0.0.1", "port": port},
        "conductor": {"node_locked_retry_interval": 0},
        "database": {"connection": f"sqlite:///{directory / 'service.sqlite'}"},
    }


@contextlib.contextmanager
def seeded(directory: Path) -> Iterator[Service]:
    """Run a service that has one of everything."""
    port = free_port()
    configuration = write_options(directory / "ironic.conf", _options(directory, port))
    with all_in_one([configuration], directory / "service.log", port) as service:
        _fill(service)
        yield service


def _fill(service: Service) -> None:
    node = {"uuid": NODE, "name": "first", "driver": "fake-hardware", "resource_class": "gold"}
    bodies: tuple[tuple[str, dict[str, Any]], ...] = (
        ("chassis", {"uuid": CHASSIS}),
        ("nodes", node | {"chassis_uuid": CHASSIS}),
        ("portgroups", {"node_uuid": NODE, "name": "bond0"}),
        ("ports", {"node_uuid": NODE, "address": "52:54:00:00:00:01", "name": "eth0"}),
        ("volume/connectors", {"node_uuid": NODE, "type": "iqn", "connector_id": "iqn.1"}),
        ("volume/targets", {"node_uuid": NODE, "volume_type": "iscsi", "boot_index": 0, "volume_id": "v"}),
        ("deploy_templates", {"name": "CUSTOM_GOLD", "steps": [STEP | {"priority": 10}]}),
        ("runbooks", {"name": "CUSTOM_GOLD", "steps": [STEP | {"order": 1}]}),
        ("inspection_rules", {"actions": [{"op": "set-attribute", "args": {"path": "/extra/a", "value": 1}}]}),
    )
    for place, body in bodies:
        answer = requests.post(f"{service.url}/v1/{place}", json=body, headers={VERSION_HEADER: "1.115"}, timeout=30)
        assert answer.status_code in (201, 409), answer.text


# Where a word is wanted of which the document only knows its form: words that this service knows.
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "path.node": (NODE, "first"),
    "path.agent_node": (NODE,),
    "path.chassis": (CHASSIS,),
    "path.driver": ("fake-hardware",),
    "path.hostname": ("conductor-1",),
    "path.method": ("first_method", "third_method_sync", "log_passthrough"),
    "path.trait": ("CUSTOM_GOLD", "HW_CPU_X86_VMX"),
    "path.indicator": ("led@chassis", "led"),
    "path.portgroup": ("bond0",),
    "path.runbook": ("CUSTOM_GOLD",),
    "path.template": ("CUSTOM_GOLD",),
    "query.node": (NODE, "first"),
    "query.driver_name": ("fake-hardware",),
    "query.method": ("first_method", "third_method_sync"),
    "body.driver": ("fake-hardware",),
    "body.node_uuid": (NODE,),
    "body.node": (NODE, "first"),
    "body.chassis_uuid": (CHASSIS,),
    "body.parent_node": (NODE,),
    "body.name": ("CUSTOM_A", "CUSTOM_B", "c", "d", "e"),
    "body.resource_class": ("gold",),
    "body.conductor_group": ("",),
    "body.runbook": ("CUSTOM_GOLD",),
    "body.boot_device": ("pxe", "disk"),
    **{f"body.{kind}_interface": ("fake",) for kind in KINDS},
    "body.network_interface": ("noop",),
    "body.storage_interface": ("noop",),
    "body.target": ("manage", "provide", "active", "deleted", "inspect", "abort", "power on", "power off", "rebooting"),
}
_SHARE = 0.7
_WHOLE: Mapping[str, Any] = {
    "body.actions": [{"op": "set-attribute", "args": {"path": "/extra/a", "value": 1}}],
    "body.conditions": [{"op": "eq", "args": {"values": [1, 1]}}],
    "body.traits": ["CUSTOM_GOLD"],
    "body.network_data": {"links": [], "networks": [], "services": []},
    "body.candidate_nodes": [NODE],
}


@dataclass(frozen=True)
class Effort:
    """How much is tried."""

    # Requests per operation with values of all kinds.
    examples: int
    # Rounds of stories, which are requests that build on each other's answers, and requests in one of them at most.
    rounds: int
    steps: int
    # Whether every value that the document allows or forbids is sent once, which takes a minute.
    coverage: bool = True


def explore(service: Service, minor: int, directory: Path, effort: Effort, seed: int) -> str:
    """Send what the document of a version allows, and what it does not; return what was wrong, "" if nothing."""
    document = service.get("/v1/openapi.json", f"1.{minor}").json()
    _add_examples(document)
    _fix_version(document)
    (directory / _DOCUMENT).write_text(json.dumps(document))
    (directory / _SETTINGS).write_text("\n".join(_settings(effort)) + "\n")
    runs = [("coverage", 1, seed)] if effort.coverage else []
    runs.append(("fuzzing", effort.examples, seed))
    # The program ends a round when it has seen every link that it comes upon; another seed comes upon others.
    runs += [("stateful", _STORIES, seed + number) for number in range(effort.rounds)]
    for phase, examples, one_seed in runs:
        # What the one before it has deleted is there again.
        _fill(service)
        if found := _run(service, directory, minor, phase, examples, one_seed):
            return found
    return ""


def _add_examples(document: dict[str, Any]) -> None:
    """Put the known words beside the schemas, which stay as they are."""
    schemas = document["components"]["schemas"]
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation["parameters"]:
                _add_example(parameter.get("schema", {}), f"{parameter.get('in')}.{parameter.get('name')}")
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for name, schema in content["schema"].get("properties", {}).items():
                    _add_example(schema, f"body.{name}")
    for kind, schema in schemas.items():
        if kind.endswith("Create"):
            for name, one in schema["properties"].items():
                _add_example(one, f"body.{name}")


def _fix_version(document: dict[str, Any]) -> None:
    """Take out the header that names the version: it is sent with every request, so that only values are wrong."""
    for methods in document["paths"].values():
        for operation in methods.values():
            references = ({"$ref": "#/components/parameters/Version"},)
            operation["parameters"] = [one for one in operation["parameters"] if one not in references]


def _add_example(schema: dict[str, Any], place: str) -> None:
    if place in _KNOWN:
        schema["examples"] = list(_KNOWN[place])
    elif place in _WHOLE:
        schema["examples"] = [_WHOLE[place]]


_STORIES = 300
_DOCUMENT, _SETTINGS = "openapi.json", "schemathesis.toml"


def _run(service: Service, directory: Path, minor: int, phase: str, examples: int, seed: int) -> str:
    program = str(PROGRAMS / "schemathesis")
    ended = subprocess.run(
        [program, "--config-file", _SETTINGS, "--no-color", "run", _DOCUMENT, "--url", service.url]
        + ["--header", f"{VERSION_HEADER}: 1.{minor}"]
        + ["--phases", phase, "--max-examples", str(examples), "--seed", str(seed), "--checks", ",".join(CHECKS)]
        + [
            "--generation-database",
            "none",
            "--warnings",
            "off",
            "--output-sanitize",
            "false",
            "--suppress-health-check",
            "all",
        ],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    said = ended.stdout + ended.stderr
    (directory / f"{phase}-{minor}.txt").write_text(said)
    return "" if ended.returncode == 0 else said[-20_000:]


def _settings(effort: Effort) -> Iterator[str]:
    for number, words in enumerate(_KNOWN.values()):
        yield f"[dictionaries.words{number}]"
        yield f"values = {list(words)!r}".replace("'", '"')
    yield "[parameters]"
    for number, place in enumerate(_KNOWN):
        yield f'"{place}" = {{ dictionary = "words{number}", probability = {_SHARE} }}'
    yield "[phases.stateful]"
    yield f"max-steps = {effort.steps}"

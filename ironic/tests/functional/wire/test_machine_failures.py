"""What a caller hears when a driver says that its machine refused or could not be reached.

Plug-ins know these errors as 500 (doc/contract/errors.md#errors-that-plug-ins-raise); over HTTP they are 502, for this
service did not fail.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.common.exception import InvalidInput, StorageError, Unauthorized
from ironic.core.errors import IronicError, NodeLocked
from ironic.core.errors.hardware_errors import DriverOperationError, RedfishConnectionError, RedfishError
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

NODE = "11111111-0000-4000-8000-000000000001"

# Conductor call -> method, path and body of the request that makes it.
CALLS: dict[str, tuple[str, str, Any]] = {
    "get_boot_device": ("GET", f"/v1/nodes/{NODE}/management/boot_device", None),
    "supported_boot_devices": ("GET", f"/v1/nodes/{NODE}/management/boot_device/supported", None),
    "set_boot_device": ("PUT", f"/v1/nodes/{NODE}/management/boot_device", {"boot_device": "pxe"}),
    "inject_nmi": ("PUT", f"/v1/nodes/{NODE}/management/inject_nmi", {}),
    "supported_indicators": ("GET", f"/v1/nodes/{NODE}/management/indicators", None),
    "get_indicator": ("GET", f"/v1/nodes/{NODE}/management/indicators/led@system", None),
    "set_indicator": ("PUT", f"/v1/nodes/{NODE}/management/indicators/led@system", {"state": "on"}),
    "get_virtual_media": ("GET", f"/v1/nodes/{NODE}/vmedia", None),
    "get_console": ("GET", f"/v1/nodes/{NODE}/states/console", None),
    "call_vendor_method": ("POST", f"/v1/nodes/{NODE}/vendor_passthru/reset", {}),
}
DESCRIBED = {NODE: "{node}", "led@system": "{indicator}", "vendor_passthru/reset": "vendor_passthru/{method}"}


class PlainPlugInError(DriverOperationError):
    """A plug-in's own, with nothing said of HTTP."""


class BusyPlugInError(DriverOperationError):
    """A plug-in's own, with a status of its own."""

    code = 409


ERRORS = [
    (DriverOperationError(operation="NMI", error="no"), 502),
    (RedfishError(node=NODE, operation="NMI", error="no"), 502),
    (RedfishConnectionError(node=NODE, address="http://192.0.2.1", error="no"), 502),
    (PlainPlugInError("no"), 502),
    (BusyPlugInError("no"), 409),
    (NodeLocked(node=NODE, host="h1"), 409),
    (IronicError("no"), 500),
    # What only plug-ins raise.
    (StorageError(volume="v"), 500),
    (Unauthorized(), 401),
    (InvalidInput("name", "!"), 400),
    (NodeLocked("no", code=423), 423),
    (StorageError("odd", code=200), 500),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = services.start(Path(tmp_path_factory.mktemp("machine_failures")))
    body = {"driver": "fake-hardware", "uuid": NODE}
    assert running.call("POST", "/v1/nodes", body=body).status == 201
    # The console is asked for only where it is open.
    running.store.nodes.update(NODE, {"console_enabled": True})
    yield running
    running.close()


@pytest.mark.parametrize("error, status", ERRORS, ids=lambda value: getattr(type(value), "__name__", ""))
@pytest.mark.parametrize("name", CALLS)
def test_a_machine_that_fails_is_told_from_a_service_that_does(
    service: Service, name: str, error: IronicError, status: int
) -> None:
    method, path, body = CALLS[name]
    service.conductor.answers[name] = error
    answer = service.call(method, path, body=body)
    fault = json.loads(answer.json["error_message"])
    assert (answer.status, fault["faultstring"], fault["debuginfo"]) == (status, str(error), None)


@pytest.mark.parametrize("name", CALLS)
def test_the_description_of_the_interface_tells_of_it(service: Service, name: str) -> None:
    method, path, _body = CALLS[name]
    for value, placeholder in DESCRIBED.items():
        path = path.replace(value, placeholder)
    described = service.call("GET", "/v1/openapi.json").json["paths"][path][method.lower()]
    assert "502" in described["responses"]

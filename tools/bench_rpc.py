"""Measure calls to a conductor over RabbitMQ and by JSON-RPC: milliseconds of a call, calls a second, CPU time.

The conductor runs in a process of its own, on the same machine. `bench_rpc.py [SECONDS]` prints one line for each
carrier and number of callers, in turns, so that what else the machine does is shared by both.
"""

import multiprocessing
import os
import socket
import statistics
import sys
import threading
import time
import uuid
from typing import Any

BROKER = os.environ.get("IRONIC_TEST_RABBITMQ_URL", "rabbit://guest:guest@127.0.0.1:5672/")
ROUNDS = 5
CALLERS = (1, 8)


def _transport(carrier: str, port: int, *, serves: bool) -> Any:
    from ironic.conf import CONF

    CONF([], project="ironic", default_config_files=[])
    if carrier == "oslo":
        from ironic.rpc.message_bus import MessageBus

        return MessageBus(BROKER)
    from ironic.command.json_rpc_listener import JsonRpcListener, caller_of

    CONF.set_override("rpc_transport", "json-rpc")
    for name, value in {"host_ip": "127.0.0.1", "port": port, "auth_strategy": "noauth"}.items():
        CONF.set_override(name, value, group="json_rpc")
    listener = JsonRpcListener(CONF) if serves else None
    if listener:
        listener.start()
    return caller_of(CONF, listener)


def _serve(carrier: str, port: int, host: str, ready: Any, ending: Any) -> None:
    from ironic.tests.unit.rpc.endpoints import Rest

    quick = type("Quick", (Rest,), {"validate_interfaces": lambda *_, **__: {"power": {"result": True}}})
    server = _transport(carrier, port, serves=True).serve(host, quick())
    ready.set()
    ending.wait()
    server.stop()


def _measure(carrier: str, callers: int, seconds: float) -> tuple[float, float, float]:
    """Return the median of a call in milliseconds, calls a second, and CPU milliseconds of the caller for a call."""
    from ironic.core.context import RequestContext
    from ironic.rpc.rpc_api import CALLS

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    host = f"bench-{uuid.uuid4()}" if carrier == "oslo" else f"127.0.0.1:{port}"
    spawn = multiprocessing.get_context("spawn")
    ready, ending = spawn.Event(), spawn.Event()
    conductor = spawn.Process(target=_serve, args=(carrier, port, host, ready, ending))
    conductor.start()
    ready.wait(60)
    transport, context = _transport(carrier, port, serves=False), RequestContext(roles=("admin",))
    call, arguments = CALLS["validate_interfaces"], {"node_id": "n1"}
    for _ in range(20):
        transport.send(host, context, call, arguments)
    took: list[float] = []
    until, cpu = time.monotonic() + seconds, time.process_time()

    def ask() -> None:
        while (began := time.monotonic()) < until:
            transport.send(host, context, call, arguments)
            took.append(time.monotonic() - began)

    threads = [threading.Thread(target=ask) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cpu = time.process_time() - cpu
    transport.close()
    ending.set()
    conductor.join(30)
    return statistics.median(took) * 1000, len(took) / seconds, cpu / len(took) * 1000


def main() -> int:
    """Print the medians of some rounds."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    found: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    for _ in range(ROUNDS):
        for callers in CALLERS:
            for carrier in ("oslo", "json-rpc"):
                found.setdefault((carrier, callers), []).append(_measure(carrier, callers, seconds))
    for (carrier, callers), rounds in found.items():
        milliseconds, rate, cpu = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(f"{carrier:9} {callers} callers: {milliseconds:6.2f} ms, {rate:6.0f} calls/s, {cpu:5.2f} ms of CPU each")
    return 0


if __name__ == "__main__":
    sys.exit(main())

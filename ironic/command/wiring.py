"""From options to the components of each program: the only module where store, drivers, conductor and API meet.

Nothing that is built here runs or has connected yet, so that a mistake in the options is reported before the wait for
servers.
"""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Union

from oslo_config import cfg

from ironic.command.components import (
    Addresses,
    Api,
    Bus,
    Callers,
    ConductorComponent,
    ConsoleContainers,
    Database,
    Measurements,
    Notifications,
)
from ironic.command.conductor_name import ConductorName
from ironic.command.file_server import PublishedFilesComponent
from ironic.command.http_server import ServerSettings, threads_for_requests
from ironic.command.json_rpc_listener import JsonRpcListener, caller_of
from ironic.command.lifecycle import Component, Pause
from ironic.command.wsgi_bridge import threads_of_one
from ironic.command.wsgi_call import Application
from ironic.conductor import (
    consoles,
    former_waits,
    housekeeping,
    periodic_tasks,
    power_sync,
    process_tasks,
    sensor_readings,
    wait_looks,
)
from ironic.conductor.allocator import Allocator
from ironic.conductor.flows.wait_ends import ON_TIMEOUT
from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.rpc_endpoint import Endpoint
from ironic.conductor.service import Conductor
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers
from ironic.conf import config_files
from ironic.core.clock import CLOCK
from ironic.core.threads import THREADS, Threads
from ironic.db import Store
from ironic.drivers.composition import installed_packages
from ironic.drivers.composition.composed_drivers import Composition
from ironic.inspection.discovery import Discovery
from ironic.integrations import host_files, image_servers, own_directories
from ironic.rpc import rpc_versions
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.rpc.waiting_calls import WaitingCalls
from ironic.services import process_store

if TYPE_CHECKING:
    from ironic.command.console_proxy import ConsoleProxy
    from ironic.rpc.json_rpc import JsonRpc
    from ironic.rpc.message_bus import MessageBus

LOG = logging.getLogger(__name__)

Transport = Union[InProcess, "MessageBus", "JsonRpc"]

# Seconds for which a transaction retries to connect while the database server restarts. Operations on machines wait;
# requests of users fail early, as each of them occupies a thread.
CONDUCTOR_RETRY_SECONDS: Final = 30.0
ALL_IN_ONE_RETRY_SECONDS: Final = 5.0

# The APIs that a process may serve, by the groups of their options.
MAIN: Final = "api"
INSPECTOR: Final = "inspector_api"


def all_in_one(conf: cfg.ConfigOpts, pause: Pause) -> list[Component]:
    """Return the components of `ironic`: the API and one conductor in one process."""
    # "oslo" is the default; without a transport_url it does not mean that there is a broker.
    is_alone = conf.rpc_transport == "none" or (
        conf.rpc_transport == "oslo" and not config_files.is_set(conf, "DEFAULT", "transport_url")
    )
    transport, carriers = (InProcess(CLOCK), []) if is_alone else _between_processes(conf, pause, serves=True)
    store, hash_ring = _store_and_ring(conf, ALL_IN_ONE_RETRY_SECONDS)
    name = ConductorName(store, conf, pause)
    conductor = conductor_of(conf, store, hash_ring, transport, name)
    served: list[Api | ConsoleProxy] = [
        _api(conf, store, hash_ring, transport, (MAIN, INSPECTOR) if conf.inspector_api.enabled else (MAIN,)),
        *([_console_proxy(conf, store)] if conf.vnc.enabled else []),
    ]
    return [
        Database(store, hash_ring, conf, pause),
        Measurements(conf),
        Notifications(conf, readings=True),
        *carriers,
        Addresses(served),
        PublishedFilesComponent(),
        name,
        ConsoleContainers(),
        conductor,
        *served,
    ]


def conductor_alone(conf: cfg.ConfigOpts, pause: Pause) -> list[Component]:
    """Return the components of `ironic-conductor`."""
    transport, carriers = _between_processes(conf, pause, serves=True)
    store, hash_ring = _store_and_ring(conf, CONDUCTOR_RETRY_SECONDS)
    name = ConductorName(store, conf, pause)
    return [
        Database(store, hash_ring, conf, pause),
        Measurements(conf),
        Notifications(conf, readings=True),
        *carriers,
        PublishedFilesComponent(),
        name,
        ConsoleContainers(),
        conductor_of(conf, store, hash_ring, transport, name),
    ]


def api_alone(conf: cfg.ConfigOpts, pause: Pause) -> list[Component]:
    """Return the components of `ironic-api`."""
    return _apis_alone(conf, pause, (MAIN,))


def inspector_api_alone(conf: cfg.ConfigOpts, pause: Pause) -> list[Component]:
    """Return the components of `ironic-inspector-api`."""
    return _apis_alone(conf, pause, (INSPECTOR,))


def console_proxy_alone(conf: cfg.ConfigOpts, pause: Pause) -> list[Component]:
    """Return the components of `ironic-novncproxy`."""
    store, hash_ring = _store_and_ring(conf)
    return [Database(store, hash_ring, conf, pause), _console_proxy(conf, store)]


def _console_proxy(conf: cfg.ConfigOpts, store: Store) -> "ConsoleProxy":
    # The other programs need no WebSocket.
    from ironic.command.console_proxy import ConsoleProxy

    if config_files.is_set(conf, "cors", "allowed_origin"):
        from oslo_middleware import cors

        conf.register_opts(cors.CORS_OPTS, group="cors")
    return ConsoleProxy(store, conf)


def _apis_alone(conf: cfg.ConfigOpts, pause: Pause, names: Sequence[str]) -> list[Component]:
    transport, carriers = _between_processes(conf, pause, serves=False)
    store, hash_ring = _store_and_ring(conf)
    return [
        Database(store, hash_ring, conf, pause),
        Measurements(conf),
        Notifications(conf),
        *carriers,
        _api(conf, store, hash_ring, transport, names),
    ]


def application(conf: cfg.ConfigOpts) -> Application:
    """Return the API as a WSGI callable for a server that brings its own processes; it connects when it is used."""
    return _application_alone(conf, MAIN)


def inspector_application(conf: cfg.ConfigOpts) -> Application:
    """Return the inspector's API as a WSGI callable."""
    return _application_alone(conf, INSPECTOR)


def _application_alone(conf: cfg.ConfigOpts, name: str) -> Application:
    store, hash_ring = _store_and_ring(conf)
    Measurements(conf)
    Notifications(conf).start()
    transport: Transport = caller_of(conf) if conf.rpc_transport == "json-rpc" else _message_bus(conf)
    return _applications(conf, store, hash_ring, transport, (name,))()[0]


def _between_processes(conf: cfg.ConfigOpts, pause: Pause, *, serves: bool) -> tuple[Transport, list[Component]]:
    """Return the transport to conductors of other processes, and what it needs; a process with a conductor serves."""
    if conf.rpc_transport != "json-rpc":
        bus = _message_bus(conf)
        return bus, [Bus(bus, pause, needed=serves)]
    listener = JsonRpcListener(conf) if serves else None
    transport = caller_of(conf, listener)
    return transport, [*([listener] if listener else []), Callers(transport)]


def _message_bus(conf: cfg.ConfigOpts) -> "MessageBus":
    if conf.rpc_transport == "none":
        raise ValueError(
            "[DEFAULT]rpc_transport = none can't connect separate processes: set it to oslo and name a transport_url, "
            "or to json-rpc, or run the all-in-one `ironic`"
        )
    # oslo.messaging takes a quarter of a second to import; a program without a bus does not need it.
    from ironic.rpc.message_bus import MessageBus

    rpc_versions.log_pin(conf.pin_release_version)
    return MessageBus(clock=CLOCK, threads=THREADS)


def _store_and_ring(conf: cfg.ConfigOpts, retry_seconds: float = 0) -> process_store.Database:
    return process_store.use(process_store.from_conf(conf, retry_seconds))


def conductor_of(
    conf: cfg.ConfigOpts,
    store: Store,
    hash_ring: HashRingManager,
    transport: Transport,
    name: ConductorName,
    threads: Threads = THREADS,
) -> ConductorComponent:
    """Return the conductor of the options, which waits by the clock of the store and works in such threads."""
    options = conf.conductor
    installed_packages.warn_of_strangers()
    host_files.check_roots()
    image_servers.warn_of_unknown_hosts()
    Discovery.from_conf(conf)  # checks options by which conductors work on what an API enrolls
    workers = Workers(
        conf.host,
        options.workers_pool_size,
        options.reserved_workers_pool_percentage,
        options.workers_percentage_per_owner,
        store.nodes.are_all_of,
        clock=store.clock,
        threads=threads,
    )
    composition = Composition.load(conf)
    own_directories.warn_of_faults(composition.written_directories())
    tasks = process_tasks.use(TaskFactory(store, composition, workers, conf.host))
    silent: set[int] = set()
    conductor = Conductor(
        conf.host,
        store,
        composition,
        hash_ring,
        tasks,
        group=options.conductor_group,
        heartbeat_interval=options.heartbeat_interval,
        check_interval=options.check_provision_state_interval,
        graceful_timeout=options.graceful_shutdown_timeout,
        periodic_workers=options.periodic_max_workers,
        on_timeout=ON_TIMEOUT,
        begin=name.begin,
        on_superseded=name.lost,
        jobs=(
            PeriodicTask(
                "unfinished allocations", options.check_allocations_interval, Allocator(tasks).take_up, at_once=True
            ),
            *consoles.jobs(tasks, hash_ring),
            *former_waits.jobs(tasks, hash_ring),
            *wait_looks.jobs(tasks, hash_ring),
            *periodic_tasks.jobs_of(composition, tasks, hash_ring),
            *power_sync.jobs(tasks, hash_ring, silent),
            *sensor_readings.jobs(tasks, hash_ring, silent),
            *housekeeping.jobs(tasks, hash_ring),
        ),
    )
    endpoint = Endpoint(tasks)
    return ConductorComponent(
        conductor, lambda: transport.serve(conf.host, endpoint), options.graceful_shutdown_timeout
    )


def _api(
    conf: cfg.ConfigOpts, store: Store, hash_ring: HashRingManager, transport: Transport, names: Sequence[str]
) -> Api:
    from ironic.api import origins, policy_files

    for option in policy_files.unused(conf):
        LOG.warning("Without effect: %s.", option)
    is_local = {MAIN: origins.is_local(conf), INSPECTOR: origins.is_loopback(conf.inspector_api.host_ip)}
    for name in names:
        if conf.auth_strategy == "noauth" and not is_local[name]:
            LOG.warning(
                "The API listens on %s without authentication: every client that reaches it may read, power, erase and "
                "reinstall every machine. Set [DEFAULT]auth_strategy to keystone or http_basic, or [%s]host_ip to "
                "127.0.0.1.",
                conf[name].host_ip,
                name,
            )
    servers = {MAIN: ServerSettings.from_conf, INSPECTOR: ServerSettings.for_inspector}
    return Api(_applications(conf, store, hash_ring, transport, names), [servers[name](conf) for name in names])


def _applications(
    conf: cfg.ConfigOpts, store: Store, hash_ring: HashRingManager, transport: Transport, names: Sequence[str]
) -> Callable[[], list[Application]]:
    """Return a function that makes the applications from the options as they are when it is called.

    All of them share rate limits, memory for bodies and the other limits of the process.
    """
    # A conductor alone needs neither Pecan nor WSME.
    from oslo_middleware import http_proxy_to_wsgi

    from ironic.api import access_log
    from ironic.api.app import BARE_METAL, build_app
    from ironic.api.inspector.old_api import InspectorApi
    from ironic.api.served_api import ServedApi
    from ironic.api.settings import ApiSettings

    conf.register_opts(http_proxy_to_wsgi.OPTS, group="oslo_middleware")
    # As many as one address may have: all clients of a proxy have the same.
    places = threads_of_one(threads_for_requests(conf))
    waiting = WaitingCalls(places, conf.api.waiting_percentage_per_project, CLOCK.monotonic)
    conductors = ConductorClients(transport, hash_ring, waiting, CLOCK)
    access_log.open_file(conf)

    # Only where the operator names origins: the CORS middleware costs more than a short request.
    has_cors = config_files.is_set(conf, "cors", "allowed_origin")
    if has_cors:
        from oslo_middleware import cors

        conf.register_opts(cors.CORS_OPTS, group="cors")

    def build() -> list[Application]:
        settings = ApiSettings.from_conf(conf)
        kinds: dict[str, tuple[ApiSettings, ServedApi]] = {
            MAIN: (settings, BARE_METAL),
            INSPECTOR: (settings.for_inspector(conf), InspectorApi()),
        }
        made: list[Application] = [
            build_app(store, conductors, hash_ring, own, conf, served) for own, served in map(kinds.__getitem__, names)
        ]
        return [cors.CORS(each, conf) for each in made] if has_cors else made

    return build

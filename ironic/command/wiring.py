"""Putting the rooms together: from options to the parts of each program.

The only place where a store, drivers, a conductor and an API meet. What is built here runs nowhere yet and has asked
nobody anything, so that a mistake in the options is told before anything is waited for.
"""

import logging
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Union

from oslo_config import cfg

from ironic.command.lifecycle import Part
from ironic.command.parts import Api, Bus, ConductorPart, Database, Notifying
from ironic.command.serving import Listening
from ironic.command.signals import Pause
from ironic.command.wsgi_bridge import Application
from ironic.conductor import consoles, interface_jobs, power_sync, tidying
from ironic.conductor.allocations import Allocator
from ironic.conductor.endpoint import Endpoint
from ironic.conductor.flows.resuming import ON_TIMEOUT
from ironic.conductor.jobs import Job
from ironic.conductor.service import Conductor
from ironic.conductor.tasks import Tasks
from ironic.conductor.workers import Workers
from ironic.conf import written
from ironic.db import Store
from ironic.drivers.composition import Composition
from ironic.inspection.discovery import Discovery
from ironic.integrations import image_servers, local_files
from ironic.rpc import versions
from ironic.rpc.conductors import Conductors
from ironic.rpc.in_process import InProcess
from ironic.rpc.placement import Placement

if TYPE_CHECKING:
    from ironic.rpc.message_bus import MessageBus

LOG = logging.getLogger(__name__)

Transport = Union[InProcess, "MessageBus"]

# Seconds for which work waits for a database server that restarts. A flow on a machine is worth the wait; a user's
# request is not, nor are the threads that would wait with it.
CONDUCTOR_PATIENCE: Final = 30.0
ALL_IN_ONE_PATIENCE: Final = 5.0


def all_in_one(conf: cfg.ConfigOpts, pause: Pause) -> list[Part]:
    """Return the parts of `ironic`: the API and one conductor in one process."""
    transport = _any_transport(conf)
    store, placement = _common(conf, patience=ALL_IN_ONE_PATIENCE)
    return [
        Database(store, placement, conf, pause),
        Notifying(conf),
        *_bus(transport, pause, needed=True),
        _conductor(conf, store, placement, transport),
        _api(conf, store, placement, transport),
    ]


def conductor_alone(conf: cfg.ConfigOpts, pause: Pause) -> list[Part]:
    """Return the parts of `ironic-conductor`."""
    transport = _bus_transport(conf)
    store, placement = _common(conf, patience=CONDUCTOR_PATIENCE)
    return [
        Database(store, placement, conf, pause),
        Notifying(conf),
        *_bus(transport, pause, needed=True),
        _conductor(conf, store, placement, transport),
    ]


def api_alone(conf: cfg.ConfigOpts, pause: Pause) -> list[Part]:
    """Return the parts of `ironic-api`."""
    transport = _bus_transport(conf)
    store, placement = _common(conf)
    return [
        Database(store, placement, conf, pause),
        Notifying(conf),
        *_bus(transport, pause, needed=False),
        _api(conf, store, placement, transport),
    ]


def application(conf: cfg.ConfigOpts) -> Application:
    """Return the API as a WSGI callable for a server that brings its own processes; it connects when it is used."""
    store, placement = _common(conf)
    Notifying(conf).start()
    return _application(conf, store, placement, _bus_transport(conf))()


def _common(conf: cfg.ConfigOpts, *, patience: float = 0) -> tuple[Store, Placement]:
    store = Store.from_conf(patience=patience)
    placement = Placement(
        store,
        heartbeat_timeout=conf.conductor.heartbeat_timeout,
        reset_interval=conf.hash_ring_reset_interval,
        partition_exponent=conf.hash_partition_exponent,
        algorithm=conf.hash_ring_algorithm,
    )
    return store, placement


def _any_transport(conf: cfg.ConfigOpts) -> Transport:
    """Return the bus if one is named, else the way inside the process: `oslo` alone is only the default's word."""
    if conf.rpc_transport == "none" or (conf.rpc_transport == "oslo" and not written.holds(conf, *_BUS_URL)):
        return InProcess()
    return _bus_transport(conf)


_BUS_URL = ("DEFAULT", "transport_url")


def _bus_transport(conf: cfg.ConfigOpts) -> "MessageBus":
    if conf.rpc_transport != "oslo":
        raise ValueError(
            f"[DEFAULT]rpc_transport = {conf.rpc_transport} can't connect separate processes here: set it to oslo and "
            "name a transport_url, or run the all-in-one `ironic` with none"
        )
    # oslo.messaging takes a quarter of a second to import; whoever has no bus should not wait for it.
    from ironic.rpc.message_bus import MessageBus

    versions.tell_of_pin(conf.pin_release_version)
    return MessageBus()


def _bus(transport: Transport, pause: Pause, *, needed: bool) -> list[Part]:
    return [] if isinstance(transport, InProcess) else [Bus(transport, pause, needed=needed)]


def _conductor(conf: cfg.ConfigOpts, store: Store, placement: Placement, transport: Transport) -> ConductorPart:
    options = conf.conductor
    local_files.check_roots()
    image_servers.warn_of_unknown_hosts()
    Discovery.from_conf(conf)  # what an API enrolls is worked on here, by the same options
    workers = Workers(conf.host, options.workers_pool_size, options.reserved_workers_pool_percentage)
    composition = Composition.load(conf)
    tasks = Tasks(store, composition, workers, conf.host)
    conductor = Conductor(
        conf.host,
        store,
        composition,
        placement,
        tasks,
        group=options.conductor_group,
        heartbeat_interval=options.heartbeat_interval,
        check_interval=options.check_provision_state_interval,
        graceful_timeout=options.graceful_shutdown_timeout,
        periodic_workers=options.periodic_max_workers,
        on_timeout=ON_TIMEOUT,
        on_superseded=lambda: os.kill(os.getpid(), signal.SIGTERM),
        jobs=(
            Job("unfinished allocations", options.check_allocations_interval, Allocator(tasks).take_up, at_once=True),
            *consoles.jobs(tasks, placement),
            *interface_jobs.jobs_of(composition, tasks, placement),
            *power_sync.jobs(tasks, placement),
            *tidying.jobs(tasks, placement),
        ),
    )
    endpoint = Endpoint(tasks)
    return ConductorPart(conductor, lambda: transport.serve(conf.host, endpoint), options.graceful_shutdown_timeout)


def _api(conf: cfg.ConfigOpts, store: Store, placement: Placement, transport: Transport) -> Api:
    from ironic.api import origins

    if conf.auth_strategy == "noauth" and not origins.is_local(conf):
        LOG.warning(
            "The API listens on %s without authentication: every client that reaches it may read, power, erase and "
            "reinstall every machine. Set [DEFAULT]auth_strategy to keystone or http_basic, or [api]host_ip to "
            "127.0.0.1.",
            conf.api.host_ip,
        )
    return Api(_application(conf, store, placement, transport), Listening.from_conf(conf))


def _application(
    conf: cfg.ConfigOpts, store: Store, placement: Placement, transport: Transport
) -> Callable[[], Application]:
    """Return what makes the application from the options as they are at that moment."""
    # Pecan and WSME are the API's; a conductor alone needs neither.
    from oslo_middleware import http_proxy_to_wsgi

    from ironic.api import access_log
    from ironic.api.app import build_app
    from ironic.api.settings import ApiSettings

    conf.register_opts(http_proxy_to_wsgi.OPTS, group="oslo_middleware")
    conductors = Conductors(transport, placement)
    access_log.open_from(conf)

    # Lets browsers of other sites in where the operator names them; the layer costs more than a short request.
    has_cors = written.holds(conf, "cors", "allowed_origin")
    if has_cors:
        from oslo_middleware import cors

        conf.register_opts(cors.CORS_OPTS, group="cors")

    def build() -> Application:
        application: Application = build_app(store, conductors, placement, ApiSettings.from_conf(conf), conf)
        return cors.CORS(application, conf) if has_cors else application

    return build

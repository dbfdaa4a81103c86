"""Putting the rooms together: from options to the parts of each program.

The only place where a store, drivers, a conductor and an API meet. What is built here runs nowhere yet.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Union

from oslo_config import cfg

from ironic.command.lifecycle import Part
from ironic.command.parts import Api, Bus, Close, ConductorPart, Database
from ironic.command.serving import Application, Listening
from ironic.conductor.endpoint import Endpoint
from ironic.conductor.flows.overdue import ON_TIMEOUT
from ironic.conductor.service import Conductor
from ironic.conductor.tasks import Tasks
from ironic.conductor.workers import Workers
from ironic.conf import written
from ironic.db import Store
from ironic.drivers.composition import Composition
from ironic.rpc.conductors import Conductors
from ironic.rpc.conversation import ConductorCalls
from ironic.rpc.in_process import InProcess
from ironic.rpc.placement import Placement

if TYPE_CHECKING:
    from ironic.rpc.message_bus import MessageBus

Transport = Union[InProcess, "MessageBus"]


def all_in_one(conf: cfg.ConfigOpts) -> list[Part]:
    """Return the parts of `ironic`: the API and one conductor in one process."""
    transport = _any_transport(conf)
    store, placement = _common(conf)
    return [
        Database(store),
        *_bus(transport),
        _conductor(conf, store, placement, transport),
        _api(conf, store, placement, transport),
    ]


def conductor_alone(conf: cfg.ConfigOpts) -> list[Part]:
    """Return the parts of `ironic-conductor`."""
    transport = _bus_transport(conf)
    store, placement = _common(conf)
    return [Database(store), *_bus(transport), _conductor(conf, store, placement, transport)]


def api_alone(conf: cfg.ConfigOpts) -> list[Part]:
    """Return the parts of `ironic-api`."""
    transport = _bus_transport(conf)
    store, placement = _common(conf)
    return [Database(store), *_bus(transport), _api(conf, store, placement, transport)]


def _common(conf: cfg.ConfigOpts) -> tuple[Store, Placement]:
    store = Store.from_conf()
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

    return MessageBus()


def _bus(transport: Transport) -> list[Part]:
    return [] if isinstance(transport, InProcess) else [Bus(transport)]


def _conductor(conf: cfg.ConfigOpts, store: Store, placement: Placement, transport: Transport) -> ConductorPart:
    options = conf.conductor
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
    )
    return ConductorPart(conductor, _listening_on(transport, conf.host, Endpoint(tasks)))


def _listening_on(transport: Transport, host: str, endpoint: ConductorCalls) -> Callable[[], Close]:
    if not isinstance(transport, InProcess):
        return lambda: transport.serve(host, endpoint).stop

    def listen() -> Close:
        transport.register(host, endpoint)
        return partial(transport.unregister, host)

    return listen


def _api(conf: cfg.ConfigOpts, store: Store, placement: Placement, transport: Transport) -> Api:
    # Pecan and WSME are the API's; a conductor alone needs neither.
    from oslo_middleware import http_proxy_to_wsgi

    from ironic.api.app import build_app
    from ironic.api.settings import ApiSettings

    conf.register_opts(http_proxy_to_wsgi.OPTS, group="oslo_middleware")
    conductors = Conductors(transport, placement)

    def build() -> Application:
        return _with_cors(build_app(store, conductors, placement, ApiSettings.from_conf(conf), conf), conf)

    return Api(build, Listening.from_conf(conf))


def _with_cors(application: Application, conf: cfg.ConfigOpts) -> Application:
    """Let browsers of other sites in where the operator names them; the layer costs more than a short request."""
    if not written.holds(conf, "cors", "allowed_origin"):
        return application
    from oslo_middleware import cors

    allowing: Application = cors.CORS(application, conf)
    return allowing

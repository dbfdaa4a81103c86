"""The store: all repositories of one database. Modules that read or write the database get it as an argument."""

from typing import Any, Self, TypeVar

from sqlalchemy.engine import Engine

from ironic.conf import CONF, database
from ironic.core.clock import CLOCK, Clock
from ironic.db import engines
from ironic.db.allocations import Allocations
from ironic.db.bmc_logins import BmcLogins
from ironic.db.chassis import Chassis
from ironic.db.conductors import Conductors
from ironic.db.history import History
from ironic.db.inspection_data import Inventories, RejectedCallbacks
from ironic.db.inspection_rules import InspectionRules, RuleHits, RuleRuns
from ironic.db.introspections import Introspections
from ironic.db.node_items import BiosSettings, FirmwareComponents
from ironic.db.node_rule_effects import NodeRuleEffects
from ironic.db.node_waits import NodeWaits
from ironic.db.nodes import Nodes
from ironic.db.ports import Portgroups, Ports
from ironic.db.repository import REPOSITORIES, Repository
from ironic.db.step_lists import DeployTemplates, Runbooks
from ironic.db.tables import refused_reports
from ironic.db.traits import Traits
from ironic.db.transactions import Transactions
from ironic.db.volumes import VolumeConnectors, VolumeTargets

Kept = TypeVar("Kept", bound=Repository[Any])


class Store(Transactions):
    """One database and its repositories."""

    def __init__(self, engine: Engine, *, clock: Clock = CLOCK, retry_seconds: float = 0) -> None:
        super().__init__(engine, clock=clock, retry_seconds=retry_seconds)
        self.nodes = Nodes(self)
        self.node_waits = NodeWaits(self)
        self.ports = Ports(self)
        self.portgroups = Portgroups(self)
        self.chassis = Chassis(self)
        self.conductors = Conductors(self)
        self.rules = InspectionRules(self)
        self.rule_hits = RuleHits(self)
        self.rule_runs = RuleRuns(self)
        self.rule_effects = NodeRuleEffects(self)
        self.inventories = Inventories(self)
        self.refused_reports = Inventories(self, refused_reports)
        self.rejected_callbacks = RejectedCallbacks(self)
        self.introspections = Introspections(self)
        self.history = History(self)
        self.traits = Traits(self)
        self.volume_connectors = VolumeConnectors(self)
        self.volume_targets = VolumeTargets(self)
        self.deploy_templates = DeployTemplates(self)
        self.runbooks = Runbooks(self)
        self.allocations = Allocations(self)
        self.bios_settings = BiosSettings(self)
        self.firmware = FirmwareComponents(self)
        self.bmc_logins = BmcLogins(self)
        self._repositories: dict[type[Any], Any] = {}
        for repository in vars(self).values():
            self._repositories.setdefault(type(repository), repository)

    def named(self, table: str) -> Repository[Any]:
        """Return the repository of a table, also of a plug-in's."""
        return self.of(REPOSITORIES[table])

    def of(self, kind: type[Kept]) -> Kept:
        """Return the repository of a class, such as one of a plug-in; those of this service are attributes as well."""
        if kind not in self._repositories:
            self._repositories[kind] = kind(self)
        found: Kept = self._repositories[kind]
        return found

    @classmethod
    def from_conf(cls, *, clock: Clock = CLOCK, retry_seconds: float = 0) -> Self:
        """Return the store of the options of [database]; ValueError for a file within the installed package."""
        database.check_place(CONF)
        engine = engines.create(CONF.database.connection, pool_options_from_conf())
        return cls(engine, clock=clock, retry_seconds=retry_seconds)


def pool_options_from_conf() -> engines.PoolOptions:
    """Return the options of [database] for connections."""
    conf = CONF.database
    return engines.PoolOptions(
        max_pool_size=conf.max_pool_size,
        max_overflow=conf.max_overflow,
        pool_timeout=conf.pool_timeout,
        connection_recycle_time=conf.connection_recycle_time,
        mysql_sql_mode=conf.mysql_sql_mode,
        mysql_wsrep_sync_wait=conf.mysql_wsrep_sync_wait,
        connection_debug=conf.connection_debug,
        connection_parameters=conf.connection_parameters,
        sqlite_wait=conf.sqlite_max_wait_for_retry if conf.sqlite_retries else 0,
    )


def connect(url: str, *, clock: Clock = CLOCK, retry_seconds: float = 0, **options: Any) -> Store:
    """Return the store at a URL; options are those of PoolOptions."""
    return Store(engines.create(url, engines.PoolOptions(**options)), clock=clock, retry_seconds=retry_seconds)

"""What a store must do on every kind of database; each test takes a `store` that is empty."""

from ironic.tests.suites.db.allocations import AllocationSuite
from ironic.tests.suites.db.bmc_logins import BmcLoginSuite
from ironic.tests.suites.db.conductors import ConductorSuite
from ironic.tests.suites.db.crud import CrudSuite
from ironic.tests.suites.db.filtering import FilterSuite
from ironic.tests.suites.db.holding import HoldingSuite
from ironic.tests.suites.db.introspections import IntrospectionSuite
from ironic.tests.suites.db.large_pages import LargePagesSuite
from ironic.tests.suites.db.node_children import ChildrenSuite
from ironic.tests.suites.db.node_items import NodeItemsSuite
from ironic.tests.suites.db.node_waits import NodeWaitSuite
from ironic.tests.suites.db.paging import PagingSuite
from ironic.tests.suites.db.records import RecordSuite
from ironic.tests.suites.db.rule_counters import RuleCounterSuite
from ironic.tests.suites.db.step_lists import StepListSuite
from ironic.tests.suites.db.transacting import TransactionSuite
from ironic.tests.suites.db.values import ValueSuite
from ironic.tests.suites.db.volumes import VolumeSuite


class EverySuite(
    CrudSuite,
    RecordSuite,
    PagingSuite,
    LargePagesSuite,
    FilterSuite,
    HoldingSuite,
    ChildrenSuite,
    NodeItemsSuite,
    NodeWaitSuite,
    ConductorSuite,
    TransactionSuite,
    ValueSuite,
    VolumeSuite,
    StepListSuite,
    RuleCounterSuite,
    IntrospectionSuite,
    AllocationSuite,
    BmcLoginSuite,
):
    """All of it."""

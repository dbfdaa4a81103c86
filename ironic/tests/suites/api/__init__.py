"""What every resource of the API must do when it is treated badly; see `ResourceSuite`."""

from ironic.tests.suites.api.bodies import CreateSuite, PatchSuite
from ironic.tests.suites.api.items import ItemSuite
from ironic.tests.suites.api.lists import ListSuite
from ironic.tests.suites.api.pages import PagesSuite
from ironic.tests.suites.api.sample import Sample
from ironic.tests.suites.api.target import Target


class ResourceSuite(ListSuite, ItemSuite):
    """Of what can be read; takes fixtures `target`, `sample` and `item`."""


class WritableSuite(CreateSuite, PatchSuite, PagesSuite):
    """Of what can be written; takes a fixture `maker`, a body that makes one more, besides."""


__all__ = ["ResourceSuite", "Sample", "Target", "WritableSuite"]

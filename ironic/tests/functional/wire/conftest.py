"""What tests of rights share: a server that plays Keystone."""

from collections.abc import Iterator

import pytest

from ironic.tests.functional.wire import keystone


@pytest.fixture(scope="module")
def identity() -> Iterator[str]:
    """Play Keystone and return its URL."""
    with keystone.playing() as url:
        yield url

"""Fixtures: agents that are real servers."""

from collections.abc import Iterator

import pytest

from ironic.tests.agent_double import AgentDouble, agent_double


@pytest.fixture
def agent() -> Iterator[AgentDouble]:
    with agent_double() as double:
        yield double


@pytest.fixture
def secure_agent() -> Iterator[AgentDouble]:
    with agent_double(tls=True) as double:
        yield double

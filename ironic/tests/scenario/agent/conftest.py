"""Fixtures: the service over TLS, a machine that boots the real agent, and its node."""

import os
from collections.abc import Iterator

import pytest

from ironic.tests.scenario.agent.machine import Machine, machine
from ironic.tests.scenario.agent.provisioning import Provisioning
from ironic.tests.scenario.agent.secure_service import SecureService

# What a test file may add to the configuration, as a module's variable.
EXTRA = "OPTIONS"


@pytest.fixture
def provisioning(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provisioning]:
    """Run the all-in-one service."""
    assert os.geteuid() == 0, "the sandbox of the real agent can be made by root only"
    service = SecureService(tmp_path_factory.mktemp("service"), getattr(request.module, EXTRA, {}))
    try:
        service.start()
        yield Provisioning(service)
    finally:
        status = service.stop()
    assert status == 0, f"it did not end cleanly:\n{service.log[-3000:]}"
    assert "Traceback" not in service.log


@pytest.fixture
def booted(provisioning: Provisioning) -> Iterator[Machine]:
    """Have a machine that is off and boots the agent."""
    with machine(provisioning.service.certificate.read_text()) as running:
        yield running


@pytest.fixture
def node(provisioning: Provisioning, booted: Machine) -> str:
    """Enroll the machine and bring it to manageable; return its UUID."""
    return provisioning.enroll(booted)

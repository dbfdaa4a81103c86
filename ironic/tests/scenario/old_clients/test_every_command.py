"""No command of the installed plug-in goes untried."""

from ironic.tests.scenario.clients.exercises import table
from ironic.tests.scenario.old_clients import test_introspection_commands, test_rule_commands
from ironic.tests.scenario.old_clients.command_line import commands


def test_every_command_is_tried() -> None:
    assert table([test_introspection_commands, test_rule_commands]).keys() == commands()

"""What a node remembers of its boot token decides whose data it accepts."""

import pytest

from ironic.inspection import boot_tokens
from ironic.tests.unit.drivers.machine import Machine


def test_a_node_without_a_token_accepts_what_shows_none() -> None:
    assert boot_tokens.matches({}, "anything")
    assert not boot_tokens.is_required({})


def test_its_own_token_is_accepted_once_and_no_other() -> None:
    token = boot_tokens.issue(node := Machine())
    assert boot_tokens.matches(node.driver_internal_info, token)
    assert not boot_tokens.matches(node.driver_internal_info, token[:-1])
    boot_tokens.use_up(node)
    assert (boot_tokens.is_required(node.driver_internal_info), boot_tokens.was_shown(node.driver_internal_info)) == (
        False,
        True,
    )


@pytest.mark.parametrize("odd", [["s"], {"s": 1}, 5, True, ""])
def test_an_odd_token_is_no_open_door(odd: object) -> None:
    memory = {"inspection_boot_token": odd}
    assert boot_tokens.is_required(memory)
    assert not boot_tokens.matches(memory, "evil")

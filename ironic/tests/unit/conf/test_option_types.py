"""Option types of our own."""

from typing import Any

import pytest

from ironic.conf import CONF
from ironic.tests.conftest import Setter


@pytest.mark.demand("S103")
@pytest.mark.parametrize(
    ("written", "size"), [("0", 0), ("3", 3), (2, 2), ("true", 1), ("True", 1), (True, 1), ("false", 0), (False, 0)]
)
def test_a_size_takes_the_words_of_older_releases(conf: Setter, written: Any, size: int) -> None:
    conf(inspector__disk_partitioning_spacing=written)
    assert CONF.inspector.disk_partitioning_spacing == size


@pytest.mark.parametrize("written", ["-1", "much", "1.5", ""])
def test_a_size_is_a_whole_number(conf: Setter, written: str) -> None:
    with pytest.raises(ValueError):
        conf(inspector__disk_partitioning_spacing=written)


@pytest.mark.parametrize("written", ['console="ttyS0', "a\nb"])
def test_kernel_parameters_stand_on_one_line_with_their_quotes_closed(conf: Setter, written: str) -> None:
    with pytest.raises(ValueError, match="kernel parameters"):
        conf(inspector__extra_kernel_params=written)


def test_kernel_parameters_are_kept_as_they_are_written(conf: Setter) -> None:
    conf(inspector__extra_kernel_params="nofb  console=ttyS0")
    assert CONF.inspector.extra_kernel_params == "nofb  console=ttyS0"


@pytest.mark.parametrize(("written", "ports"), [("1:3", range(1, 3)), ("0:0", range(0)), ("9:65535", range(9, 65535))])
def test_a_range_of_ports_ends_before_its_end(conf: Setter, written: str, ports: range) -> None:
    conf(console__port_range=[written])
    assert CONF.console.port_range == [ports]


@pytest.mark.parametrize("written", ["", "7", "3:1", "1:65536", "-1:3", "1:2:3", "a:b"])
def test_a_range_of_ports_has_two_ports_in_order(conf: Setter, written: str) -> None:
    with pytest.raises(ValueError, match="range of ports"):
        conf(console__port_range=[written])

"""Paths of a BMC, compared."""

import pytest

from ironic.drivers.modules.redfish.wire.plain_paths import differ_in_case_only, different_paths, end_of, plain_path

ONE = "/redfish/v1/Systems/A"


@pytest.mark.parametrize("spelt", [ONE, f"{ONE}/", f"{ONE}#", f"{ONE}/#", ONE.upper(), f"{ONE}#/Boot"])
def test_spellings_of_a_path_are_one_path(spelt: str) -> None:
    assert plain_path(spelt) == plain_path(ONE)


@pytest.mark.parametrize("spelt", [ONE, f"{ONE}/", f"{ONE}#", f"{ONE}/#"])
def test_a_list_has_a_path_once(spelt: str) -> None:
    assert different_paths([ONE, "/b", spelt]) == [ONE, "/b"]
    assert not differ_in_case_only([ONE, "/b"])


@pytest.mark.parametrize("other", [ONE.upper(), f"{ONE.lower()}/"])
def test_paths_of_a_list_that_differ_in_case_may_be_two(other: str) -> None:
    assert different_paths([ONE, other]) == [ONE, other]
    assert differ_in_case_only([ONE, "/b", other])


@pytest.mark.parametrize("other", [f"{ONE}/B", f"{ONE}2", "/redfish/v1/Systems", f"/{ONE}", f"{ONE}?a"])
def test_other_paths_stay_other_paths(other: str) -> None:
    assert plain_path(other) != plain_path(ONE)


@pytest.mark.parametrize(("path", "end"), [(ONE, "A"), (f"{ONE}/", "A"), ("A", "A"), ("/", ""), ("", "")])
def test_the_end_of_a_path_is_as_it_is_spelt(path: str, end: str) -> None:
    assert end_of(path) == end

"""The rows of tools/mutations.yaml fit the code; `make demands` tries them."""

from pathlib import Path

import pytest

from ironic.tests.repository import ROOT, tool

mutations = tool("mutations")
ROWS = mutations.rows()


@pytest.mark.parametrize("row", ROWS, ids=[row.demand for row in ROWS])
def test_a_mutation_changes_one_place_and_names_tests_of_its_demand(row) -> None:
    assert row.is_fresh(), f"{row.file} does not contain the text to replace exactly once"
    assert row.new != row.old
    assert all((ROOT / path.partition("::")[0]).exists() for path in row.tests.split())


def test_the_tests_of_a_mutation_prove_its_demand() -> None:
    marked = tool("demands").marked()
    # Each server's file of tests of the database imports them.
    imported = {Path("ironic/tests/unit/db"): Path("ironic/tests/suites/db")}
    without = [
        row.demand
        for row in ROWS
        for named in [Path(one.partition("::")[0]) for one in row.tests.split()]
        if not any(
            path.is_relative_to(place)
            for path in marked[row.demand]
            for place in (named, *(suite for tests, suite in imported.items() if named.is_relative_to(tests)))
        )
    ]
    assert without == []


def test_many_demands_have_one_mutation_each_in_their_order() -> None:
    demands = list(tool("demands").rows())
    named = [row.demand for row in ROWS]
    assert len(named) >= 40
    assert named == sorted(set(named), key=demands.index)


def test_a_mutation_is_judged_and_taken_back(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\nmarkers = demand(*rows): proves\n")
    (tmp_path / "conftest.py").write_text((ROOT / "ironic" / "tests" / "conftest.py").read_text())
    (tmp_path / "product.py").write_text("ANSWER = 42\n")
    (tmp_path / "test_product.py").write_text(
        "import product, pytest\n"
        "@pytest.mark.demand('S1', 'S2')\n"
        "def test_a(): assert product.ANSWER == 42\n"
        "@pytest.mark.demand('S3')\n"
        "def test_b(): pass\n"
    )

    def verdict(demand: str, old: str = "42") -> str:
        return str(mutations.Mutation(demand, "product.py", old, "43", "test_product.py").judge(tmp_path))

    assert [verdict("S2"), verdict("S3"), verdict("S4")] == ["caught", "survived", "broken"]
    assert verdict("S1", old="44") == "stale"
    assert (tmp_path / "product.py").read_text() == "ANSWER = 42\n"

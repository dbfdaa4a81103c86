"""The error of a rule that fails an inspection names the rule."""

import pytest

from ironic.core.rules.rule_outcomes import Failure


@pytest.mark.parametrize(("description", "named"), [("no disk", "u1 (no disk) failed"), (None, "u1 failed")])
def test_it_names_the_rule_by_its_description_too(description: str | None, named: str) -> None:
    failure = Failure("u1", "main", "actions", 0, "Fail", "x", description=description)
    assert named in str(failure.error("node n"))

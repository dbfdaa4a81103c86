"""The rights that fields name are rules that the policy knows."""

from ironic.api import policies
from ironic.api.openapi import operations

KNOWN = {name for name, *_ in policies.RULES}


def test_a_field_names_rules_that_exist() -> None:
    fields = [one for resource in operations.resources().values() for one in resource.table.fields.values()]
    named = {rule for one in fields for rule in (one.right, *one.rules) if rule is not None}
    assert len(named) > 20
    assert named <= KNOWN
    assert {one.unmasked_by for one in fields} - {None} <= KNOWN

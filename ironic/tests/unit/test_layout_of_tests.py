"""A test of a module is found by name: `unit/` mirrors the tree, and what does not says why."""

import pytest

from ironic.tests.repository import ROOT

PRODUCT = ROOT / "ironic"
UNIT = PRODUCT / "tests" / "unit"

# Files whose subject is no module, by the reason.
OTHERS = {
    "what routes answer, through the whole application": """
        api/resources/test_access.py
        api/resources/test_access_of_volumes.py
        api/resources/test_inspector_rules_shown.py
        api/resources/test_known_words.py
        api/resources/test_layout.py
        api/resources/test_list_budgets.py
        api/resources/test_maintenance_history.py
        api/resources/test_node_history.py
        api/resources/test_node_traits.py
        api/resources/test_ramdisk.py
        api/resources/test_refused_logins.py
        api/resources/test_rule_runs.py
    """,
    "operations from begin to end, or what needs their bench": """
        conductor/flows/test_a_new_wait.py
        conductor/flows/test_awaited_settings.py
        conductor/flows/test_awaited_shutdowns.py
        conductor/flows/test_bmc_refresh.py
        conductor/flows/test_deploy_templates.py
        conductor/flows/test_former_waits.py
        conductor/flows/test_lessee.py
        conductor/flows/test_moves_end_waits.py
        conductor/flows/test_power_sync.py
        conductor/flows/test_related_power.py
        conductor/flows/test_reserved_steps.py
        conductor/flows/test_secure_boot.py
        conductor/flows/test_sensor_readings.py
        conductor/flows/test_texts_of_flows.py
        conductor/flows/test_texts_of_other_work.py
        conductor/flows/test_verifying.py
        conductor/flows/test_volumes.py
        conductor/flows/test_wait_looks.py
        conductor/flows/test_whole_life.py
        conductor/test_notifications.py
        conductor/test_periodic_methods.py
    """,
    "what several modules, or tables of several, have to agree about": """
        api/test_added_field.py
        api/test_known_fields.py
        api/test_known_routes.py
        api/test_microversions.py
        api/test_provision_request.py
        api/test_rights_of_fields.py
        conf/test_files.py
        conf/test_generators.py
        conf/test_options.py
        conf/test_reference_options.py
        conf/test_references.py
        conf/test_rendered_files.py
        core/rules/test_checking.py
        core/rules/test_examples.py
        core/rules/test_loops.py
        core/rules/test_masking.py
        core/test_image_logins.py
        core/test_logins.py
        core/test_nested_failures.py
        core/test_sent_back.py
        core/test_step_logins.py
        db/test_model.py
        drivers/modules/netboot/test_boot_tokens.py
        drivers/modules/test_deploy_input.py
        drivers/test_hardware_types.py
        drivers/test_listed_checksums.py
        drivers/test_machine.py
        drivers/test_passthru.py
        drivers/test_raid_config.py
        drivers/test_who_acts.py
        inspection/hooks/test_device_hooks.py
        inspection/test_recorded_payloads.py
        services/test_services.py
    """,
}
EXCEPTIONS = {name for names in OTHERS.values() for name in names.split()}
MODULES = {
    str(path.relative_to(PRODUCT).with_suffix("")) for path in PRODUCT.rglob("*.py") if UNIT.parent not in path.parents
}
PACKAGES = {str(path.relative_to(PRODUCT).parent) for path in PRODUCT.rglob("*/__init__.py")}
FILES = {str(path.relative_to(UNIT)) for path in UNIT.rglob("*/test_*.py")}


def is_found(file: str) -> bool:
    """Return whether a file bears the name of its module, alone or with a topic, or stands in a directory of it."""
    directory, _, name = file.removesuffix(".py").rpartition("/")
    words = name.split("_")[1:]
    names = {f"{directory}/{'_'.join(words[:count])}" for count in range(1, len(words) + 1)}
    return bool(names & (MODULES | PACKAGES)) or directory in MODULES


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("core/texts/test_syntax.py", True),
        ("core/texts/test_syntax_macs.py", True),
        ("core/secrets/test_masking_names.py", True),
        ("drivers/contract/test_interfaces.py", True),
        ("core/test_macs.py", False),
        ("api/test_syntax.py", False),
    ],
)
def test_a_file_is_found_by_its_name(file: str, found: bool) -> None:
    assert is_found(file) is found


def test_every_file_is_found_or_says_why_not() -> None:
    assert len(FILES) > 200
    assert sorted(file for file in FILES if not is_found(file)) == sorted(EXCEPTIONS)

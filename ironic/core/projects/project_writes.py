"""What a project, or a machine by its report, may write into the documents of a node.

Neither may send a stored secret elsewhere, name files and ports of the service's hosts, give the agent its orders, or
choose inspection rules. What a rule takes from the report of a machine counts as a project's, unless the rule writes
it in its own words.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from ironic.core.addresses import own_host
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.node import SCOPE_PROPERTY
from ironic.core.projects.kernel_parameters import check_project_parameters
from ironic.core.secrets import secret_updates
from ironic.core.secrets.masking import is_secret
from ironic.core.secrets.secret_updates import DRIVER, IMAGE_DOCUMENTS, Written

PROPERTIES: Final = "properties"
# The fields in which some values are for administrators only.
DOCUMENTS: Final = (*IMAGE_DOCUMENTS, PROPERTIES)

Document = Mapping[str, Any]


def check(
    before: Mapping[str, Document],
    values: Mapping[str, Any],
    bound: Collection[str],
    written: Callable[[str], Written],
    parameters: Collection[str],
) -> None:
    """Raise InvalidParameterValue for what a project must not write.

    ``before`` has the present `DOCUMENTS`, ``values`` those that change; ``bound`` are the names of those in which the
    author writes as a project. ``parameters`` are the agent's kernel parameters that projects may give.
    """
    if DRIVER in bound:
        names = secret_updates.redirected_secrets(before[DRIVER], values[DRIVER], written(DRIVER))
        secret_updates.refuse_redirected(names, DRIVER)
    changed = [name for name in IMAGE_DOCUMENTS if name in values]
    if not set(bound).isdisjoint(changed):
        after = {**before, **{name: values[name] for name in changed}}
        names = secret_updates.redirected_image_secrets(before, after, {name: written(name) for name in changed})
        secret_updates.refuse_redirected(names, " and ".join(changed))
    for name in IMAGE_DOCUMENTS:
        if name in bound:
            check_project_parameters(name, before[name], values[name], parameters)
    if DRIVER in bound:
        _check_driver_info(before[DRIVER], values[DRIVER])
    if PROPERTIES in bound:
        _check_properties(before[PROPERTIES], values[PROPERTIES])


def fault_of_report(
    stored: Mapping[str, Document], now: Mapping[str, Document], own: Mapping[str, Document]
) -> str | None:
    """Return why a machine's report must not change the `IMAGE_DOCUMENTS` so; None if it may.

    ``own`` has the values among those of ``now`` that rules have written in their own words.
    """
    # Values that rules have written literally or removed are not changes by the machine.
    before = {
        name: {**{key: one for key, one in stored[name].items() if key in now[name] or is_secret(key)}, **own[name]}
        for name in IMAGE_DOCUMENTS
    }
    written = {name: [((key,), one) for key, one in own[name].items()] for name in IMAGE_DOCUMENTS}
    secrets = secret_updates.redirected_secrets(before[DRIVER], now[DRIVER], written[DRIVER])
    if secrets := secrets or secret_updates.redirected_image_secrets(before, now, written):
        return (
            f"what a machine reported would send the stored {', '.join(secrets)} to another address: a rule that "
            "writes such an address must write the secret as well"
        )
    old, new = (
        {name: {key: one for key, one in side[name].items() if key not in own[name]} for name in IMAGE_DOCUMENTS}
        for side in (before, now)
    )
    try:
        _check_driver_info(old[DRIVER], new[DRIVER])
        for name in IMAGE_DOCUMENTS:
            check_project_parameters(name, old[name], new[name], ())
    except InvalidParameterValue as error:
        return f"what a machine reported may do no more than a project's patch: {error}"
    return None


def _check_driver_info(before: Document, after: Document) -> None:
    """Refuse files and ports of the conductor's host, and a BMC that would get the service's login to a share."""
    if secret_updates.hands_out_share_login(before, after):
        raise InvalidParameterValue(
            err="vmedia_transport_protocol CIFS in driver_info has the service send its login for the share to the "
            "BMC: only administrators may set it, or change the address of a BMC that takes images this way."
        )
    if names := own_host.own_port_keys(before, after):
        raise InvalidParameterValue(
            err=f"{', '.join(names)} in driver_info is for administrators: it names a port on the hosts of the "
            "service. Without it a console gets a port of [console]port_range."
        )
    if names := own_host.trust_path_keys(before, after):
        raise InvalidParameterValue(
            err=f"{', '.join(names)} in driver_info must be true or false: only administrators may name files on the "
            "hosts of the service."
        )


def _check_properties(before: Document, after: Document) -> None:
    """Refuse that a project chooses the inspection rules of its node: their passwords would go to its addresses."""
    if before.get(SCOPE_PROPERTY) != after.get(SCOPE_PROPERTY):
        raise InvalidParameterValue(
            err=f"{SCOPE_PROPERTY} in properties selects inspection rules, which may write passwords: only "
            "administrators may set, change or remove it."
        )

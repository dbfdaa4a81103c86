"""Inspection data that a ramdisk posts, whatever the path: admit them, find their node, and pass them to a conductor.

Every failed match is the same 404. Where rules of the early phase call other services, or a conductor hands reports on
to one, which may be slow, a few threads of the server process reports and nothing else; if too many reports wait for
these, or one for too long, it gets a 503. Source: demands S72 to S77.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import NamedTuple

from ironic.api import crud_notifications, ramdisk_access
from ironic.api.request import Request
from ironic.core import permit
from ironic.core.hardware_interfaces import with_fact
from ironic.core.permit import LANE, MustMove
from ironic.inspection.arrival import Arrival, Rejections, accept
from ironic.inspection.rules import EarlyRules


class Received(NamedTuple):
    """A report that has arrived at its node; ``process`` has the conductor process it, in the background."""

    arrival: Arrival
    process: Callable[[], object]


def admit(request: Request, check: Callable[[], object] = lambda: None) -> EarlyRules:
    """Admit a report and return its early rules; raises 503 or 403 if it is not admitted.

    ``check`` may refuse it as well. The rules decide, before the body is parsed, whether the report moves to the
    threads for reports.
    """
    lane = request.environ.get(LANE)
    if lane == permit.FULL:
        raise ramdisk_access.too_busy("Too many inspection reports wait")
    rules = request.settings.rule_book.early(request.store)
    if lane != permit.SLOW:  # there it was admitted before it moved
        ramdisk_access.admit_report(request)
        check()
        if lane == permit.QUICK and (rules.may_call_out or _may_be_handed_on(request)):
            raise MustMove
    return rules


def _may_be_handed_on(request: Request) -> bool:
    """Return whether any conductor hands reports on to another service, which may be slow."""
    return bool(with_fact(request.hash_ring.served(), "hands_reports_on"))


def receive(
    request: Request, report: object, early_rules: EarlyRules, node_uuid: str | None = None, boot_token: str = ""
) -> Received:
    """Find the one node that waits for a report; raises an error that hides details of the node."""
    with _report_slot(request) if early_rules.may_call_out else nullcontext():
        arrival = accept(
            request.store,
            early_rules,
            report,
            node_uuid,
            boot_token=boot_token,
            discovery=request.settings.discovery,
            rejections=_rejections(request),
        )
    if arrival.created:
        crud_notifications.notify_enrolled(request, arrival.node.uuid)
    with ramdisk_access.hide_node_details():
        conductor = request.conductors.serving(arrival.node)
    data = (arrival.node.uuid, arrival.inventory, arrival.plugin_data)
    return Received(arrival, partial(conductor.continue_inspection, request.context, *data))


def _rejections(request: Request) -> Rejections:
    settings, source = request.settings, ramdisk_access.source(request)
    return Rejections(
        request.store,
        settings.rejected_callbacks_kept,
        source,
        settings.refusals,
        may_store=partial(settings.stored_refusals.admits, source),
    )


@contextmanager
def _report_slot(request: Request) -> Iterator[None]:
    """Limit the number of reports that may wait for services.

    WSGI servers other than our own have no threads for reports alone.
    """
    slots = request.settings.report_slots
    if not slots.acquire(blocking=False):
        raise ramdisk_access.too_busy("Too many inspection reports are in progress")
    try:
        yield
    finally:
        slots.release()

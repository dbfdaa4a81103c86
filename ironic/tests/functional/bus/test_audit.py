"""Events of the audit filter arrive at a real listener on the bus."""

import uuid
from collections.abc import Callable
from pathlib import Path

import keystonemiddleware.audit  # registers its options
import pytest

from ironic.tests.functional.bus.test_notifications import Listener
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.repository import ROOT
from ironic.tests.site import BROKER, eventually

assert keystonemiddleware.audit


# The identifiers of the Keystone that is played are no UUIDs.
@pytest.mark.filterwarnings("ignore:Invalid uuid")
def test_a_request_is_told_before_and_after(tmp_path: Path, conf: Callable[..., None]) -> None:
    topic, heard = f"audit-{uuid.uuid4()}", Listener()
    ear = heard.listen(topic)
    conf(control_exchange=topic, audit__enabled=True)
    conf(audit__audit_map_file=str(ROOT / "etc" / "ironic" / "api_audit_map.conf"))
    conf(audit_middleware_notifications__driver="messagingv2", audit_middleware_notifications__topics=topic)
    conf(audit_middleware_notifications__transport_url=BROKER)
    with keystone.playing() as identity:
        service = keystone.service(tmp_path, identity, conf)
        assert ask(service, "owner-admin", "PUT", f"/v1/nodes/{OWNED}/maintenance", {}).status == 202
        eventually(lambda: heard.events, ["audit.http.request", "audit.http.response"], 60)
        service.close()
    ear.stop()
    ear.wait()
    assert [one[3]["outcome"] for one in heard.heard] == ["pending", "success"]
    assert heard.heard[0][3]["initiator"]["project_id"] == "owners"

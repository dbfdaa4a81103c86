"""Provider `kubernetes`: a pod and a secret with the credentials, from a manifest that kubectl reads from its input."""

import functools
from collections.abc import Callable, Mapping
from typing import Final

from ironic.conf import CONF
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.graphical.containers import (
    Address,
    BaseConsoleContainer,
    conductor_label,
    environment,
    name_of,
    uuids_of,
)
from ironic.drivers.modules.graphical.programs import Programs

_PORT: Final = 5900
_CONDUCTOR: Final = "org.openstack.ironic.conductor"
_NODE: Final = "org.openstack.ironic.node"
# kubectl ends by itself at the time it is given; this is for one that does not.
_MORE_SECONDS: Final = 30


class KubernetesConsoleContainer(BaseConsoleContainer):
    """Runs kubectl with the configuration of this user or of the pod that the conductor is in."""

    def __init__(self) -> None:
        self._programs = Programs("kubernetes", "kubectl")
        self._programs.image()
        self._programs.template(CONF.vnc.kubernetes_container_template)

    def start_container(self, task: Task, app_name: str, app_info: Mapping[str, object]) -> Address:
        self.stop_container(task)
        name = name_of(task.node.uuid)
        labels = {
            "org.openstack.ironic.console": "true",
            _CONDUCTOR: conductor_label(),
            _NODE: task.node.uuid,
        }
        values = {
            "name": name,
            "labels": labels,
            "image": self._programs.image(),
            "environment": environment(app_name, app_info),
        }
        manifest = self._programs.render(self._programs.template(CONF.vnc.kubernetes_container_template), values)
        seconds = CONF.vnc.kubernetes_pod_timeout
        try:
            self._kubectl("apply", "--filename=-", text=manifest)
            self._kubectl(
                "wait", "--for=condition=Ready", f"--timeout={seconds}s", f"pod/{name}", seconds=seconds + _MORE_SECONDS
            )
            host = self._kubectl("get", f"pod/{name}", "--output=jsonpath={.status.podIP}").strip()
            if not host:
                raise self._programs.failed(f"pod {name} has no address")
            self._programs.await_vnc((host, _PORT))
        except BaseException:
            self.stop_container(task)
            raise
        return host, _PORT

    def stop_container(self, task: Task) -> None:
        name = name_of(task.node.uuid)
        self._kubectl("delete", f"pod/{name}", f"secret/{name}", "--ignore-not-found", "--wait=true")

    def stop_all_containers(self) -> None:
        self._delete_own()

    def started(self) -> dict[str, Callable[[], None]]:
        names = self._kubectl("get", "pod,secret", _selector(), "--output=jsonpath={.items[*].metadata.name}")
        return {uuid: functools.partial(self._delete_own, f"{_NODE}={uuid}") for uuid in uuids_of(names.split())}

    def _delete_own(self, *labels: str) -> None:
        self._kubectl("delete", "pod,secret", _selector(*labels), "--ignore-not-found")

    def _kubectl(self, *arguments: str, text: str | None = None, seconds: float | None = None) -> str:
        if seconds is None:
            return self._programs.run(["kubectl", *arguments], text=text)
        return self._programs.run(["kubectl", *arguments], text=text, seconds=seconds)


def _selector(*labels: str) -> str:
    """Return the argument that chooses what this conductor has made, with further labels."""
    return f"--selector={','.join((f'{_CONDUCTOR}={conductor_label()}', *labels))}"

"""Objects in a container of Swift, spoken to by plain HTTP with the credentials of [swift].

keystoneauth finds the endpoint and repeats a request whose token has run out; the container is made when the first
object is refused for want of it. Nothing of the credentials appears in any text.
"""

from typing import Any, Final, Self
from urllib.parse import quote

from keystoneauth1 import exceptions, loading

from ironic.conf import CONF
from ironic.integrations.object_store import ObjectStoreError

_GROUP: Final = "swift"
_MISSING: Final = 404


class SwiftContainer:
    """One container; safe to use from any thread."""

    def __init__(self, adapter: Any, container: str) -> None:
        self._adapter, self._container = adapter, container

    @classmethod
    def from_conf(cls, container: str) -> Self:
        """Return the container with this name, of the account that the options lead to."""
        auth = loading.load_auth_from_conf_options(CONF, _GROUP)
        session = loading.load_session_from_conf_options(CONF, _GROUP, auth=auth)
        return cls(loading.load_adapter_from_conf_options(CONF, _GROUP, session=session), container)

    def put(self, name: str, data: bytes) -> None:
        """Store an object; the container is made if need be."""
        operation = f"store {name}"
        if self._ask("PUT", self._path(name), operation, data) == _MISSING:
            self._ask("PUT", self._path(), f"create container {self._container}")
            if self._ask("PUT", self._path(name), operation, data) == _MISSING:
                raise ObjectStoreError(operation=operation, error="the container can't be found after creating it")

    def get(self, name: str) -> bytes | None:
        """Return an object."""
        answer = self._request("GET", self._path(name), f"read {name}")
        return None if answer.status_code == _MISSING else bytes(answer.content)

    def delete(self, name: str) -> None:
        """Delete an object."""
        self._ask("DELETE", self._path(name), f"delete {name}")

    def _path(self, name: str | None = None) -> str:
        parts = [self._container] if name is None else [self._container, name]
        return "/" + "/".join(quote(part, safe="") for part in parts)

    def _ask(self, method: str, path: str, operation: str, data: bytes | None = None) -> int:
        status: int = self._request(method, path, operation, data).status_code
        return status

    def _request(self, method: str, path: str, operation: str, data: bytes | None = None) -> Any:
        headers = {} if data is None else {"Content-Type": "application/json"}
        try:
            answer = self._adapter.request(
                path, method, data=data, headers=headers, raise_exc=False, log=False, connect_retries=2
            )
        except exceptions.ClientException as error:
            raise ObjectStoreError(operation=operation, error=str(error)) from error
        if answer.status_code >= 400 and answer.status_code != _MISSING:
            raise ObjectStoreError(operation=operation, error=f"it answers with status {answer.status_code}")
        return answer

"""Object store Swift: objects in one container, by plain HTTP with the credentials of [swift].

keystoneauth finds the endpoint and repeats a request whose token has expired. The container is created when Swift does
not find it for the first object. No text contains credentials.
"""

import hmac
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Self
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

from keystoneauth1 import exceptions, loading

from ironic.conf import CONF
from ironic.integrations.object_store import ObjectStoreError

_GROUP: Final = "swift"
_MISSING: Final = 404
_KEY: Final = "X-Account-Meta-Temp-Url-Key"

Headers = Mapping[str, str]
_NO_MORE: Final[Headers] = {}


class SwiftContainer:
    """One container; safe to use from any thread."""

    def __init__(self, adapter: Any, container: str) -> None:
        self._adapter, self._container = adapter, container

    @classmethod
    def from_conf(cls, container: str) -> Self:
        """Return the container of this name in the account of [swift]; raises ObjectStoreError."""
        try:
            auth = loading.load_auth_from_conf_options(CONF, _GROUP)
        except exceptions.ClientException as error:
            raise ObjectStoreError(operation="be found", error=f"options of [{_GROUP}]: {error}") from error
        session = loading.load_session_from_conf_options(CONF, _GROUP, auth=auth)
        return cls(loading.load_adapter_from_conf_options(CONF, _GROUP, session=session), container)

    def put(
        self, name: str, data: bytes, keep_seconds: int | None = None, content_type: str = "application/json"
    ) -> None:
        """Store an object, which Swift deletes after ``keep_seconds``; the container is created if need be."""
        operation = f"store {name}"
        headers = {"Content-Type": content_type}
        if keep_seconds is not None:
            headers["X-Delete-After"] = str(keep_seconds)
        if self._status_of("PUT", self._path(name), operation, data, headers) == _MISSING:
            self._status_of("PUT", self._path(), f"create container {self._container}")
            if self._status_of("PUT", self._path(name), operation, data, headers) == _MISSING:
                raise ObjectStoreError(operation=operation, error="the container can't be found after creating it")

    def put_file(self, name: str, path: Path, keep_seconds: int) -> None:
        """Store the content of a file, which is not read into memory; Swift deletes it after ``keep_seconds``."""
        operation, headers = f"store {name}", {"X-Delete-After": str(keep_seconds)}
        for is_first in (True, False):
            with path.open("rb") as file:
                if self._status_of("PUT", self._path(name), operation, file, headers) != _MISSING:
                    return
            if is_first:
                self._status_of("PUT", self._path(), f"create container {self._container}")
        raise ObjectStoreError(operation=operation, error="the container can't be found after creating it")

    def get(self, name: str) -> bytes | None:
        """Return an object, None when there is none."""
        answer = self._request("GET", self._path(name), f"read {name}")
        return None if answer.status_code == _MISSING else bytes(answer.content)

    def delete(self, name: str) -> None:
        """Delete an object."""
        self._status_of("DELETE", self._path(name), f"delete {name}")

    def temporary_url(self, name: str, seconds: int) -> str:
        """Return a URL that gives read access to an object without credentials, for so many seconds."""
        endpoint = urlsplit(self._adapter.get_endpoint() or "")
        path = f"{unquote(endpoint.path).rstrip('/')}/{self._container}/{name}"
        expires = int(time.time()) + seconds
        signature = hmac.new(self._account_key().encode(), f"GET\n{expires}\n{path}".encode(), "sha256").hexdigest()
        query = urlencode({"temp_url_sig": signature, "temp_url_expires": expires})
        return urlunsplit((endpoint.scheme, endpoint.netloc, quote(path), query, ""))

    def _account_key(self) -> str:
        """Return the key of the account that signs such URLs; an account without a key gets one."""
        for _ in range(2):
            if key := self._request("HEAD", "", "read its account").headers.get(_KEY):
                return str(key)
            self._request("POST", "", "set a key for temporary URLs", more={_KEY: secrets.token_hex(32)})
        raise ObjectStoreError(operation="give temporary URLs", error="its account keeps no key for them")

    def _path(self, name: str | None = None) -> str:
        container = f"/{quote(self._container, safe='')}"
        return container if name is None else f"{container}/{quote(name)}"

    def _status_of(
        self, method: str, path: str, operation: str, data: bytes | BinaryIO | None = None, more: Headers = _NO_MORE
    ) -> int:
        status: int = self._request(method, path, operation, data, more).status_code
        return status

    def _request(
        self, method: str, path: str, operation: str, data: bytes | BinaryIO | None = None, more: Headers = _NO_MORE
    ) -> Any:
        try:
            answer = self._adapter.request(
                path, method, data=data, headers=dict(more), raise_exc=False, log=False, connect_retries=2
            )
        except exceptions.ClientException as error:
            raise ObjectStoreError(operation=operation, error=str(error)) from error
        if answer.status_code >= 400 and answer.status_code != _MISSING:
            raise ObjectStoreError(operation=operation, error=f"it answers with status {answer.status_code}")
        return answer

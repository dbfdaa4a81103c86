"""Object store Swift: objects in one container, by plain HTTP with the credentials of [swift].

`keystone_service` finds the endpoint, logs in, and bounds the time and the size of requests. The container is created
when Swift does not find it for the first object. No text contains credentials.
"""

import hmac
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final, Self
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

from ironic.conf import CONF
from ironic.core.errors.call_errors import ObjectStoreError
from ironic.integrations.http_client import CallFailed
from ironic.integrations.keystone_service import KeystoneService, Reply

_GROUP: Final = "swift"
_MISSING: Final = 404
_KIB: Final = 1024
_MOST_OTHER_BYTES: Final = 64 * _KIB
_SECONDS: Final = 60.0
_CONNECT_RETRIES: Final = 2
_KEY: Final = "X-Account-Meta-Temp-Url-Key"

Headers = Mapping[str, str]
_NO_MORE: Final[Headers] = {}


class SwiftContainer:
    """One container; safe to use from any thread."""

    def __init__(self, service: KeystoneService, container: str) -> None:
        self._service, self._container = service, container

    @classmethod
    def from_conf(cls, container: str) -> Self:
        """Return the container of this name in the account of [swift]; raises ObjectStoreError."""
        try:
            return cls(KeystoneService(_GROUP), container)
        except CallFailed as error:
            raise ObjectStoreError(operation="be found", error=str(error)) from error

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
        # Asked before: Swift may refuse a file for a container that is not there while it is still sent.
        if self._status_of("HEAD", self._path(), f"find container {self._container}") == _MISSING:
            self._status_of("PUT", self._path(), f"create container {self._container}")
        with path.open("rb") as file:
            headers["Content-Length"] = str(os.fstat(file.fileno()).st_size)
            status = self._status_of("PUT", self._path(name), operation, file, headers)
        if status == _MISSING:
            raise ObjectStoreError(operation=operation, error="the container can't be found after creating it")

    def get(self, name: str) -> bytes | None:
        """Return an object, None when there is none."""
        answer = self._request("GET", self._path(name), f"read {name}")
        return None if answer.status == _MISSING else answer.content

    def delete(self, name: str) -> None:
        """Delete an object."""
        self._status_of("DELETE", self._path(name), f"delete {name}")

    def temporary_url(self, name: str, seconds: int) -> str:
        """Return a URL that gives read access to an object without credentials, for so many seconds."""
        endpoint = urlsplit(self._endpoint("give temporary URLs"))
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
        return self._request(method, path, operation, data, more).status

    def _request(
        self, method: str, path: str, operation: str, data: bytes | BinaryIO | None = None, more: Headers = _NO_MORE
    ) -> Reply:
        url = f"{self._endpoint(operation)}{path}"
        retries = CONF.swift.connect_retries
        is_file = data is not None and not isinstance(data, bytes)
        try:
            answer = self._service.call(
                method,
                url,
                more,
                data,
                # What is read here are inventories.
                most_bytes=2 * CONF.inventory.size_limit * _KIB + _MOST_OTHER_BYTES,
                seconds=CONF.outgoing.download_timeout if is_file else _SECONDS,
                idle_seconds=CONF.swift.timeout or _SECONDS,
                connect_retries=_CONNECT_RETRIES if retries is None else retries,
            )
        except CallFailed as error:
            raise ObjectStoreError(operation=operation, error=str(error)) from error
        if answer.status >= 400 and answer.status != _MISSING:
            raise ObjectStoreError(operation=operation, error=f"it answers with status {answer.status}")
        return answer

    def _endpoint(self, operation: str) -> str:
        try:
            return self._service.endpoint()
        except CallFailed as error:
            raise ObjectStoreError(operation=operation, error=str(error)) from error

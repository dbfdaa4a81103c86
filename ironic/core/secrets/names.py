"""Which names give a secret away.

A name is read as words, however they are joined: "bootOption", "BMCPassword", "user-pin" and "Snmp Community" have two
each. The table of both sides, what is hidden and what stays, is in the tests. The oldest part of it follows
doc/contract/policies.md#masks and doc/contract/drivers.md#names-in-driver_info.
"""

import functools
import re
from typing import Final

REPLACEMENT: Final = "******"

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT: Final = re.compile(r"[^a-z0-9]+")

# Parts that tell wherever they stand, also inside of a word.
_TELLTALE: Final = re.compile(
    r"passw(?:or)?d|passphrase|passcode|pswd|secret|token|credential|cookie|keytab|kubeconfig"
    r"|(?:admin|new|root|auth|chap|user|bmc|ipmi|bios)_?(?:pass|pwd)(?![a-z])"
    r"|(?:private|auth|priv|host|encrypt(?:ed|ion)|ssl|tls|ssh|fernet|api|access)key"
)
# Words that tell as the last one of a name: "pinned", "mapping", "bypass", "pass_through" and "community_edition" hold
# no secret.
_LAST: Final = frozenset(
    {"apikey", "authorization", "bearer", "communities", "community", "jwt", "otp", "pass", "pin", "psk", "pw", "pwd"}
    | {"userdata"}
)
_LAST_TWO: Final = frozenset(
    {("community", "name"), ("user", "data"), ("basic", "auth"), ("http", "auth"), ("proxy", "auth")}
)
# What comes behind the word for a secret without being another thing.
_SAME_THING: Final = frozenset(
    {"b64", "base64", "content", "current", "data", "encoded", "hash", "hashed", "new", "old", "ro", "rw", "string"}
    | {"text", "value", ""}
)
# What is said of a secret: how it is handled, not the secret.
_ABOUT: Final = frozenset(
    {"age", "algorithm", "allowed", "attempts", "authentication", "bits", "change", "changed", "complexity", "count"}
    | {"created", "disabled", "enabled", "expiration", "expires", "expiry", "len", "length", "lifetime", "max"}
    | {"maximum", "min", "minimum", "policy", "pregenerated", "required", "retries", "size", "status", "supported"}
    | {"timeout", "ttl", "type"}
)
_KEYS: Final = frozenset({"access", "api", "auth", "encryption", "priv", "private", "secret"})
_OPEN_KEYS: Final = frozenset({"foreign", "hot", "primary", "pub", "public", "sort"})

# Characters of a name that are looked at; names come from callers, and are as long as a body may be.
_LONGEST: Final = 512

# Parameters of a URL: signatures let in like passwords.
_SIGNATURES: Final = frozenset({"assertion", "hmac", "sas", "sig", "signature", "ticket"})
_ALONE_IN_URLS: Final = frozenset({"code", "key"})


def is_secret(name: str) -> bool:
    """Tell whether the value that stands under this name must not be shown."""
    # A text that is far longer than any name is none, and is not to be kept among names.
    return _is_secret(name[-_LONGEST:])


@functools.lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    words = _words(name)
    if words[-1] in _ABOUT:
        return False
    return _TELLTALE.search("_".join(words)) is not None or words == ["auth"] or _tells_at_the_end(words)


def is_secret_parameter(name: str) -> bool:
    """Tell whether a parameter of a URL lets in whoever knows its value."""
    return is_secret(name) or name.lower() in _ALONE_IN_URLS or _ends_as_signature(name[-_LONGEST:])


@functools.lru_cache(maxsize=4096)
def _ends_as_signature(name: str) -> bool:
    return _words(name)[-1] in _SIGNATURES


def _words(name: str) -> list[str]:
    return _JOINT.split(_HUMP.sub("_", name).lower())


def _tells_at_the_end(words: list[str]) -> bool:
    if tuple(words[-2:]) in _LAST_TWO:
        return True
    while len(words) > 1 and words[-1].rstrip("0123456789") in _SAME_THING:
        words = words[:-1]
    last, before = words[-1].rstrip("0123456789"), words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return before in _KEYS if last == "keys" else before not in _OPEN_KEYS | {""}
    return last in _LAST

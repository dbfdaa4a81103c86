"""Detect secrets by name and form, and mask them in documents and texts.

REST answers, notifications, explanations of rules, logs and node history all call `masked` for plain data of any depth,
or `masked_text`.

By name (`is_secret`): what a package of drivers declares to be a secret is hidden, and what its name says to be one. A
name is split into words, however they are joined; "bootOption", "BMCPassword", "user-pin" and "Snmp Community" have two
each. The tests list the names that are hidden and those that are not. The oldest of them follow
doc/contract/policies.md#masks and doc/contract/drivers.md#names-in-driver_info.

By form (`masked_text`): logins and signatures in URLs, private keys, settings and headers are replaced in any text (a
URL, an error, a log line, a file) and the rest of the text stays, so that the failed host remains readable. Each
pattern examines a character a bounded number of times, and a long text is searched in pieces, so that other threads can
run.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from ironic.core.keys import info_keys

__all__ = [
    "REPLACEMENT",
    "is_secret",
    "is_secret_parameter",
    "masked",
    "masked_instance_info",
    "masked_text",
]


REPLACEMENT: Final = "******"

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT: Final = re.compile(r"[^a-z0-9]+")

# Parts that mark a secret anywhere in a name, also inside a word.
_SECRET_PARTS: Final = re.compile(
    r"passw(?:or)?d|passphrase|passcode|pswd|secret|token|credential|cookie|keytab|kubeconfig"
    r"|(?:admin|new|root|auth|chap|user|bmc|ipmi|bios)_?(?:pass|pwd)(?![a-z])"
    r"|(?:private|auth|priv|host|encrypt(?:ed|ion)|ssl|tls|ssh|fernet|api|access)key"
)
# Words that mark a secret only at the end of a name: "pinned", "mapping", "bypass", "pass_through" and
# "community_edition" are no secrets.
_LAST: Final = frozenset(
    {"apikey", "authorization", "bearer", "communities", "community", "jwt", "otp", "pass", "pin", "psk", "pw", "pwd"}
    | {"userdata"}
)
_LAST_TWO: Final = frozenset(
    {("community", "name"), ("user", "data"), ("basic", "auth"), ("http", "auth"), ("proxy", "auth")}
)
# Words behind the word for a secret that still mean the secret itself.
_STILL_SECRET: Final = frozenset(
    {"b64", "base64", "content", "current", "data", "encoded", "hash", "hashed", "new", "old", "ro", "rw", "string"}
    | {"text", "value", ""}
)
# Last words of names that describe how a secret is handled and are not the secret.
_ABOUT: Final = frozenset(
    {"age", "algorithm", "allowed", "attempts", "authentication", "bits", "change", "changed", "complexity", "count"}
    | {"created", "disabled", "enabled", "expiration", "expires", "expiry", "len", "length", "lifetime", "max"}
    | {"maximum", "min", "minimum", "policy", "pregenerated", "required", "retries", "size", "status", "supported"}
    | {"timeout", "ttl", "type"}
)
_KEYS: Final = frozenset({"access", "api", "auth", "encryption", "priv", "private", "secret"})
_OPEN_KEYS: Final = frozenset({"foreign", "hot", "primary", "pub", "public", "sort"})

# Characters of a name that are examined; names come from callers and may be as long as a request.
_LONGEST: Final = 512

# Parameters of a URL: a signature gives access like a password.
_SIGNATURES: Final = frozenset({"assertion", "hmac", "sas", "sig", "signature", "ticket"})
_ALONE_IN_URLS: Final = frozenset({"code", "key"})


def is_secret(name: str) -> bool:
    """Return whether a value with this name must not be shown."""
    # Cut, so that a very long text does not fill the cache.
    return info_keys.is_secret(name) or _is_secret(name[-_LONGEST:])


@functools.lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    words = _words(name)
    if words[-1] in _ABOUT:
        return False
    return _SECRET_PARTS.search("_".join(words)) is not None or words == ["auth"] or _ends_as_secret(words)


def is_secret_parameter(name: str) -> bool:
    """Return whether the value of this parameter of a URL must not be shown, because it may give access."""
    return is_secret(name) or name.lower() in _ALONE_IN_URLS or _ends_as_signature(name[-_LONGEST:])


@functools.lru_cache(maxsize=4096)
def _ends_as_signature(name: str) -> bool:
    return _words(name)[-1] in _SIGNATURES


def _words(name: str) -> list[str]:
    return _JOINT.split(_HUMP.sub("_", name).lower())


def _ends_as_secret(words: list[str]) -> bool:
    if tuple(words[-2:]) in _LAST_TWO:
        return True
    while len(words) > 1 and words[-1].rstrip("0123456789") in _STILL_SECRET:
        words = words[:-1]
    last, before = words[-1].rstrip("0123456789"), words[-2] if len(words) > 1 else ""
    if last == "key":
        return before != "" and before not in _OPEN_KEYS
    if last == "keys":
        return before in _KEYS
    return last in _LAST


# Characters that are searched in one piece.
_PIECE: Final = 65536
_END_OF_PIECE: Final = re.compile(r"\s|\Z")

_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_LOGIN: Final = re.compile(r"(?P<web>(?<=http)|(?<=https))?://(?P<login>[^\s/?#\"]+)@", re.IGNORECASE)
# The beginning of a URL, and what ends its authority.
_SCHEME: Final = re.compile(r"[A-Za-z][\w+.-]{0,30}://")
_END_OF_AUTHORITY: Final = re.compile(r"[\s/?#]|\Z")
_NOT_IN_URLS: Final = re.compile(r"[\s\"]")
# A login with a slash in the password: the URL is invalid, and errors quote it.
_BROKEN_LOGIN: Final = re.compile(
    r"://[^\s/?#@:\[\]\"'<>]{1,128}:(?!\d{1,5}(?:[/?#\s]|\Z))[^\s\"'<>@]{0,128}@", re.IGNORECASE
)
# Every secret name contains one of these in lower case; a text without them has no setting to hide.
_HINTS: Final = (
    *("pass", "pw", "pswd", "psk", "pin", "otp", "jwt", "key", "auth", "token", "secret", "cred", "cook", "commun"),
    *("bearer", "sig", "hmac", "sas", "code", "kubeconfig", "ticket", "assertion", "%"),
)
# A name with the beginning of its value, which is quoted or follows '='.
_SETTING: Final = re.compile(
    r"(?<![\w.%-])(?P<name>[A-Za-z%][\w.%-]{0,63})\\?[\"']?"
    r"(?:\s{0,3}[:=]\s{0,3}[bu]?(?P<quote>\\?[\"'])|(?P<sign>=))"
)
# A header, or a line of YAML.
_LINE: Final = re.compile(
    r"^([ \t]{0,64}(?:-[ \t]{1,8})?(?P<name>[A-Za-z][\w.-]{0,63}):[ \t]{1,8})(?P<value>[^\s\"'\[{|>]\S*)(?=[ \t]*\r?$)",
    re.MULTILINE,
)
_REST: Final = {
    '"': re.compile(r'(?:\\.|[^"\\])*', re.DOTALL),
    "'": re.compile(r"(?:\\.|[^'\\])*", re.DOTALL),
    '\\"': re.compile(r'(?:(?!\\").)*', re.DOTALL),
    "\\'": re.compile(r"(?:(?!\\').)*", re.DOTALL),
    "=": re.compile(r"[^\s\"'&;<>]*"),
}
_AUTHORIZATION: Final = re.compile(
    r"(\b(?:proxy-)?authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:(?:bearer|basic|digest|token)\s{1,3})?)"
    r"[^\s\"',;\\]+",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(r"(\bBearer\s{1,3})[A-Za-z0-9._~+/=-]{16,}")

# Beginnings of public keys, which boot parameters and settings may show.
_PUBLIC_KEYS: Final = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")


def masked_text(text: str) -> str:
    """Return a text with the secrets in it masked."""
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(REPLACEMENT, text)
    if ":" not in text and "=" not in text and "Bearer" not in text:
        return text
    return "".join(map(_masked_piece, _pieces(text)))


def _pieces(text: str) -> Iterator[str]:
    """Cut a long text into pieces, at blanks if there are any."""
    start = 0
    while len(text) - start > _PIECE:
        found = _END_OF_PIECE.search(text, start + _PIECE, start + 2 * _PIECE)
        end = found.end() if found else start + 2 * _PIECE
        yield text[start:end]
        start = end
    yield text[start:]


def _masked_piece(text: str) -> str:
    if "@" in text and "://" in text:
        text = _without_quoted_login(text) if '"' in text else text
        text = _BROKEN_LOGIN.sub(f"://{REPLACEMENT}@", _LOGIN.sub(_without_login, text))
    small = text.lower()
    has_settings, has_lines = "=" in text or '"' in text or "'" in text, ": " in text or ":\t" in text
    # Most texts with a colon are a URL, an address or a time.
    if not has_settings and not has_lines and "authorization" not in small and "Bearer" not in text:
        return text
    if not any(hint in small for hint in _HINTS) and not ("user" in small and "data" in small):
        return text
    if has_settings:
        text = _without_settings(text)
    if "authorization" in small:
        text = _AUTHORIZATION.sub(rf"\1{REPLACEMENT}", text)
    if "Bearer" in text:
        text = _BEARER.sub(rf"\1{REPLACEMENT}", text)
    return _LINE.sub(_line, text) if has_lines else text


def _without_quoted_login(text: str) -> str:
    """Mask the login of a text that consists of a URL only: a quotation mark does not end it."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        return text
    end = _END_OF_AUTHORITY.search(text, scheme.end())
    login, at, _ = text[scheme.end() : end.start() if end else None].rpartition("@")
    behind = scheme.end() + len(login) + 1
    if not at or '"' not in login or _NOT_IN_URLS.search(text, behind):
        return text
    return f"{scheme[0]}{REPLACEMENT}@{text[behind:]}"


def _without_login(found: re.Match[str]) -> str:
    """Mask the login of a URL; a user name alone stays, except in HTTP URLs, where it may be a token."""
    if ":" not in found["login"] and "%3a" not in found["login"].lower() and found["web"] is None:
        return found[0]
    return f"://{REPLACEMENT}@"


def _without_settings(text: str) -> str:
    kept: list[str] = []
    done = 0
    for head in _SETTING.finditer(text):
        if head.start() < done or not _is_secret_here(text, head):
            continue
        # Looked at before the value is: what is shown is searched on, so it must not be read to its end each time.
        if text.startswith(_PUBLIC_KEYS, head.end()):
            continue
        rest = _REST[head["quote"] or head["sign"]].match(text, head.end())
        if rest is None or not rest[0]:
            continue
        kept += text[done : head.end()], REPLACEMENT
        done = rest.end()
    return "".join((*kept, text[done:])) if kept else text


def _line(found: re.Match[str]) -> str:
    hidden = is_secret(found["name"]) and not found["value"].startswith(_PUBLIC_KEYS)
    return f"{found[1]}{REPLACEMENT}" if hidden else found[0]


def _is_secret_here(text: str, head: re.Match[str]) -> bool:
    """Return whether a name is secret; behind '?' and '&' it is that of a parameter, which may be percent-encoded."""
    if text[max(0, head.start() - 1) : head.start()] in _BEFORE_PARAMETERS:
        return is_secret_parameter(unquote(head["name"]))
    return is_secret(head["name"])


_BEFORE_PARAMETERS: Final = frozenset("?&;#")


# The config drive and the URL of the image may contain secrets of any form.
_HIDDEN_OF_INSTANCE: Final = ("configdrive", "image_url")

# The keys under which lists of settings (BIOS settings, headers, variables) have the name of a setting.
_NAMES: Final = ("name", "key", "setting", "attribute", "attribute_name", "header", "option", "parameter", "variable")
_SPELLINGS: Final = frozenset(
    spelled
    for name in _NAMES
    for spelled in dict.fromkeys((name, name.title(), "".join(map(str.title, name.split("_")))))
)


_PLAIN: Final = frozenset({int, float, bool, type(None)})


def masked(value: Any) -> Any:
    """Return a copy of plain data with every secret masked; null and empty text stay."""
    if isinstance(value, str):
        return masked_text(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, dict | Mapping):
        names_a_secret = not _SPELLINGS.isdisjoint(value) and _names_a_secret(value)
        # Numbers and null are passed on without a call: lists of nodes are masked thousands of values at a time.
        return {
            key: REPLACEMENT
            if _is_hidden(key, names_a_secret) and _is_set(inner)
            else inner
            if type(inner) in _PLAIN
            else masked(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_masked_item(inner) for inner in value]
    return value


def masked_instance_info(info: Mapping[str, Any]) -> dict[str, object]:
    """Return a masked copy of instance_info, with the config drive and the URL of the image hidden too."""
    shown: dict[str, Any] = masked(info)
    return shown | {key: REPLACEMENT for key in _HIDDEN_OF_INSTANCE if shown.get(key)}


def _is_hidden(key: object, names_a_secret: bool) -> bool:
    """Return whether a value is hidden, by its key or by the name of the setting beside it."""
    return isinstance(key, str) and (is_secret(key) or (names_a_secret and "val" in key.lower()))


def _is_set(value: object) -> bool:
    """Return whether there is a value to hide; null, empty text and booleans disclose no secret."""
    return value is not None and value != "" and not isinstance(value, bool)


def _names_a_secret(value: Mapping[object, object]) -> bool:
    return any(isinstance(name := value.get(spelled), str) and is_secret(name) for spelled in _SPELLINGS)


def _masked_item(item: object) -> Any:
    """Return a masked copy of an item of a list, which may be a pair of a name and its value, such as a header."""
    if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str):
        name, value = item
        if ":" not in name and is_secret(name):
            return [name, REPLACEMENT if _is_set(value) else value]
    return masked(item)

"""Secrets inside of texts, which may be a URL, an error, a log line, a header or a whole file.

What is found is replaced, the text around it stays: people have to see which host did not answer. Each pattern looks
at a character a bounded number of times, and a long text is read in pieces, so that its length holds up no other
thread.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from ironic.core.secrets.names import REPLACEMENT, is_secret, is_secret_parameter

# Characters that are searched at once.
_PIECE: Final = 65536
_END_OF_PIECE: Final = re.compile(r"\s|\Z")

_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_LOGIN: Final = re.compile(r"(?P<web>(?<=http)|(?<=https))?://(?P<login>[^\s/?#\"]+)@", re.IGNORECASE)
# A text that is nothing but a URL: no quotation mark ends its login.
_URL_LOGIN: Final = re.compile(r"\A(?P<kept>[A-Za-z][\w+.-]{0,30}://)[^\s/?#]*\"[^\s/?#]*@(?=[^\s\"]*\Z)")
# With a slash in the password, which breaks the URL and stands in the error that this leads to.
_BROKEN_LOGIN: Final = re.compile(
    r"://[^\s/?#@:\[\]\"'<>]{1,128}:(?!\d{1,5}(?:[/?#\s]|\Z))[^\s\"'<>@]{0,128}@", re.IGNORECASE
)
# Parts of every name that tells, in small letters; a text with none of them holds no setting to hide.
_HINTS: Final = (
    *("pass", "pw", "pswd", "psk", "pin", "otp", "jwt", "key", "auth", "token", "secret", "cred", "cook", "commun"),
    *("bearer", "sig", "hmac", "sas", "code", "kubeconfig", "ticket", "assertion", "%"),
)
# A name with the beginning of its value, which is quoted or stands behind '='.
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

# Boot parameters and settings carry public keys for people to see.
_PUBLIC_KEYS: Final = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")


def masked_text(text: str) -> str:
    """Return a text without the secrets in it."""
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(REPLACEMENT, text)
    if ":" not in text and "=" not in text and "Bearer" not in text:
        return text
    return "".join(map(_masked_piece, _pieces(text)))


def _pieces(text: str) -> Iterator[str]:
    """Cut a long text at blanks where it has some."""
    start = 0
    while len(text) - start > _PIECE:
        found = _END_OF_PIECE.search(text, start + _PIECE, start + 2 * _PIECE)
        end = found.end() if found else start + 2 * _PIECE
        yield text[start:end]
        start = end
    yield text[start:]


def _masked_piece(text: str) -> str:
    if "@" in text and "://" in text:
        text = _URL_LOGIN.sub(rf"\g<kept>{REPLACEMENT}@", text)
        text = _BROKEN_LOGIN.sub(f"://{REPLACEMENT}@", _LOGIN.sub(_without_login, text))
    small = text.lower()
    if not any(hint in small for hint in _HINTS) and not ("user" in small and "data" in small):
        return text
    if "=" in text or '"' in text or "'" in text:
        text = _without_settings(text)
    if "authorization" in small:
        text = _AUTHORIZATION.sub(rf"\1{REPLACEMENT}", text)
    if "Bearer" in text:
        text = _BEARER.sub(rf"\1{REPLACEMENT}", text)
    return _LINE.sub(_line, text) if ": " in text or ":\t" in text else text


def _without_login(found: re.Match[str]) -> str:
    """Take out who logs in; a mere user stays where tokens don't stand in that place."""
    if ":" not in found["login"] and "%3a" not in found["login"].lower() and found["web"] is None:
        return found[0]
    return f"://{REPLACEMENT}@"


def _without_settings(text: str) -> str:
    kept: list[str] = []
    done = 0
    for head in _SETTING.finditer(text):
        if head.start() < done or not _is_secret_here(text, head):
            continue
        rest = _REST[head["quote"] or head["sign"]].match(text, head.end())
        if rest is None or not rest[0] or rest[0].startswith(_PUBLIC_KEYS):
            continue
        kept += text[done : head.end()], REPLACEMENT
        done = rest.end()
    return "".join((*kept, text[done:])) if kept else text


def _line(found: re.Match[str]) -> str:
    hidden = is_secret(found["name"]) and not found["value"].startswith(_PUBLIC_KEYS)
    return f"{found[1]}{REPLACEMENT}" if hidden else found[0]


def _is_secret_here(text: str, head: re.Match[str]) -> bool:
    """Judge a name; behind '?' and '&' it is a parameter's, which may be escaped."""
    if text[max(0, head.start() - 1) : head.start()] in _BEFORE_PARAMETERS:
        return is_secret_parameter(unquote(head["name"]))
    return is_secret(head["name"])


_BEFORE_PARAMETERS: Final = frozenset("?&;#")

"""Which values are secrets, told by the name they stand under, and what is shown in their place.

The one list of name patterns for everything that shows data: REST answers, rules, logs, explanations. Whoever shows
data calls `masked` (copy, any depth) or asks `is_secret` for one name. Nothing here looks at values: a secret under an
innocent name can't be known. Names and the replacement follow facts/fields.yaml and facts/driver_info.yaml.
"""

import functools
import re
from collections.abc import Mapping
from typing import Any, Final

REPLACEMENT: Final = "******"

# Parts of a name that give a secret away. The last two cover "snmp_auth_key", "ipmi_hex_kg_key", "sslkey" and leave
# alone what is meant to be shown: public keys, and a bare "key" beside a "value".
_TELLTALE: Final = re.compile(
    r"passw(?:or)?d|passphrase|passcode|(?:admin|new|root|auth|chap)_?pass|pswd|secret|token|credential|cookie"
    r"|(?<!public)[_-]key(?:_?data)?$|(?:private|auth|priv|host|encrypt(?:ed|ion)|ssl|tls|ssh|fernet|api|access)key"
)

# Names with a telltale part that hold no secret: how a secret is handled, not the secret.
_INNOCENT: Final = frozenset({"agent_token_required", "agent_secret_token_pregenerated", "token_required"})

# The config drive, the URL of the image.
_HIDDEN_OF_INSTANCE: Final = ("configdrive", "image_url")

# "bootOption" and "AuthToken" are read like "boot_option" and "auth_token".
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@functools.lru_cache(maxsize=4096)
def is_secret(key: str) -> bool:
    """Tell whether the value that stands under this name must not be shown."""
    name = _HUMP.sub("_", key).lower()
    return name not in _INNOCENT and _TELLTALE.search(name) is not None


def masked(value: Any) -> Any:
    """Return a copy of plain data with every secret replaced; what holds none (null, empty text) stays as it is."""
    if isinstance(value, Mapping):
        return {key: _shown(key, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    return value


def masked_instance_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return a masked copy of what is known of an instance, without what may carry a secret in itself."""
    shown: dict[str, Any] = masked(info)
    return shown | {key: REPLACEMENT for key in _HIDDEN_OF_INSTANCE if shown.get(key)}


def _shown(key: Any, value: Any) -> Any:
    if value is None or value == "" or not isinstance(key, str) or not is_secret(key):
        return masked(value)
    return REPLACEMENT

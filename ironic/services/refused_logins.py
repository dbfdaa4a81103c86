"""Have a login tried again that a BMC has refused, when its password is written anew.

A BMC that had locked the account, or did not have it yet, takes the same password later. Conductors try it no more, and
who may write it may have it tried once more.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from ironic.core.addresses import bmc_hosts
from ironic.core.keys import info_keys
from ironic.core.keys.info_keys import Holds
from ironic.core.secrets.masking import is_secret
from ironic.core.secrets.secret_updates import Written
from ironic.db import Store
from ironic.db.bmc_logins import login_of

# Each look at a login takes some milliseconds on purpose.
_MOST_LOOKED_AT: Final = 16
_USER: Final = "username"


def forget_written(store: Store, driver_info: Mapping[str, object], written: Written) -> None:
    """Forget the refusals of the logins whose passwords a request has written; ``driver_info`` is what it has made."""
    passwords = {value for value in _secrets_in(written) if value in driver_info.values()}
    hosts = {host.lower() for host in bmc_hosts.hosts(driver_info)}
    if not passwords or not hosts:
        return
    users = {value for key, value in driver_info.items() if _names_user(key) and isinstance(value, str)} or {""}
    left = _MOST_LOOKED_AT
    for login, address in store.bmc_logins.refused_ones():
        if urlsplit(address).hostname not in hosts:
            continue
        for user, password in [(user, password) for user in users for password in passwords][:left]:
            left -= 1
            if login_of(address, user, password) == login:
                store.bmc_logins.accept(login)


def _names_user(key: str) -> bool:
    known = info_keys.of(key)
    return key.endswith(_USER) if known is None else known.holds is Holds.LOGIN


def _secrets_in(written: Written) -> list[str]:
    """Return the texts that a patch writes under keys of secrets."""
    pairs: list[tuple[str, object]] = []
    for path, value in written:
        if path:
            pairs.append((str(path[0]), value))
        elif isinstance(value, Mapping):
            pairs += value.items()
    return [value for key, value in pairs if isinstance(value, str) and value and is_secret(key)]

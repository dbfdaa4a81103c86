#!/opt/ironic/bin/python
"""Whether the program of this container serves; 1 is the failure, which is printed.

`ironic-health [conductor] [URL...]`: the conductor of these options has renewed its heartbeat, as all conductors see it
in the database; each URL answers below 500. It ends within a few seconds, also where nothing answers.
"""

import os
import signal
import sys
import urllib.error
import urllib.request

SECONDS = 8
# Then the program itself ends, as a driver of a database may wait for long.
LAST_SECONDS = 12


def fault_of(url: str) -> str | None:
    """Return what is wrong with the server at a URL of this container."""
    try:
        # The server of this container, whatever proxy the environment names.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(url, timeout=SECONDS).close()
    except urllib.error.HTTPError as error:
        # Files are served without a list of them; what answers this serves.
        return f"{url} answers {error.code}" if error.code >= 500 else None
    except OSError as error:
        return f"{url} does not answer: {error}"
    return None


def fault_of_conductor() -> str | None:
    """Return what is wrong with the heartbeat of the conductor that runs with these options."""
    # The library is large, and who asks for a URL does not need it.
    from ironic.common import config, exception
    from ironic.conf import CONF
    from ironic.db.sqlalchemy import api

    config.parse_args([])
    try:
        conductors = api.get_backend()
        if CONF.host in conductors.get_online_conductors():
            return None
        return f"conductor {CONF.host} has been silent since {conductors.get_conductor(CONF.host).updated_at}"
    except exception.ConductorNotFound as error:
        return str(error)
    except Exception as error:
        return f"the database does not say whether the conductor lives: {error}"


def give_up(_number: int, _frame: object) -> None:
    """End at once."""
    print(f"no answer within {LAST_SECONDS} seconds", flush=True)
    os._exit(1)


def main(asked: list[str]) -> int:
    """Return the exit status; print what is wrong."""
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LAST_SECONDS)
    found = [fault_of_conductor() if each == "conductor" else fault_of(each) for each in asked]
    faults = [each for each in found if each]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults or not asked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

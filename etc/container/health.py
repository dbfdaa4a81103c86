#!/opt/ironic/bin/python
"""Whether the program of this container serves: `ironic-health URL` asks for an answer below 500, 1 is the failure."""

import sys
import urllib.error
import urllib.request

SECONDS = 8


def main(url: str) -> int:
    """Return the exit status; print what is wrong."""
    try:
        # The server of this container, whatever proxy the environment names.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(url, timeout=SECONDS).close()
    except urllib.error.HTTPError as error:
        # Files are served without a list of them; what answers this serves.
        if error.code >= 500:
            print(f"{url} answers {error.code}")
            return 1
    except OSError as error:
        print(f"{url} does not answer: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

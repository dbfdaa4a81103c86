"""The page of the keys of driver_info, made from their declarations; `tools/pages.py` writes it."""

from ironic.core.keys import info_keys

HEAD = """\
# Keys of driver_info

What the interfaces of this project read from `driver_info`, and what they declare that it is. Names of logins and
secrets go to the server that the addresses of the same family lead to: the keys of one BMC share the part before the
first `_`. A project that changes where a login goes has to send the secret along
([Rights of projects](security.md#rights-of-projects)). `baremetal driver property list` shows the keys of one hardware
type. Drivers of other vendors declare their own ([A hardware type](write-a-hardware-type.md)); of a key that is not
declared, the words of its name decide.

| key | holds | leads a login | description |
| --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page: a row for each declared key of the project, in the order of their names."""
    rows = [
        f"| `{name}` | {one.holds} | {'yes' if one.leads else ''} | {one} |"
        for name, one in sorted(info_keys.declared().items())
    ]
    return HEAD + "\n".join(rows) + "\n"

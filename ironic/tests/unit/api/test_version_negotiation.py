import pytest

from ironic.api import version_negotiation
from ironic.api.error_responses import VersionRefused

NEWEST = version_negotiation.TEXTS[version_negotiation.MAXIMUM]


@pytest.mark.parametrize(
    ("own", "common", "minor"),
    [
        (None, None, 1),
        ("1.1", None, 1),
        (NEWEST, None, version_negotiation.MAXIMUM),
        (" 1.50 ", None, 50),
        ("latest", None, version_negotiation.MAXIMUM),
        ("Latest", None, version_negotiation.MAXIMUM),
        (None, "baremetal 1.31", 31),
        (None, "compute 2.90,baremetal latest", version_negotiation.MAXIMUM),
        (None, "BareMetal 1.2", 2),
        ("1.50", "baremetal 1.31", 31),
        ("1.50", "compute 2.1", 50),
        ("1.50", "", 50),
    ],
)
def test_the_version_is_read_from_both_headers(own: str | None, common: str | None, minor: int) -> None:
    environ = {version_negotiation.REQUEST_HEADER: own, version_negotiation.COMMON_HEADER: common}
    assert version_negotiation.negotiate({name: value for name, value in environ.items() if value is not None}) == minor


@pytest.mark.parametrize(
    ("asked", "says_range"),
    [
        ("1.0", True),
        (version_negotiation.text(version_negotiation.MAXIMUM + 1), True),
        ("2.1", True),
        ("0.5", True),
        ("-1.5", True),
        ("1", False),
        ("1.2.3", False),
        ("abc", False),
        ("v1.31", False),
        ("", False),
        ("1.x", False),
        ("1." + "9" * 5000, False),
    ],
)
def test_a_version_that_is_not_served_is_refused(asked: str, says_range: bool) -> None:
    with pytest.raises(VersionRefused) as refusal:
        version_negotiation.negotiate({version_negotiation.REQUEST_HEADER: asked})
    assert refusal.value.status == 406
    assert bool(refusal.value.headers) is says_range

"""Images on this host that nobody needs."""

import pytest

from ironic.conductor.images_here import ImagesHere
from ironic.core import states


@pytest.fixture
def places(conf, tmp_path):
    conf(pxe__tftp_master_path=str(tmp_path / "no"), pxe__instance_master_path=str(tmp_path / "neither"))
    conf(deploy__http_root=str(tmp_path / "www"))
    return tmp_path


def test_where_there_are_none_nothing_happens(store, places):
    ImagesHere(store)()
    assert [path.name for path in places.iterdir()] == ["ironic.sqlite"]


@pytest.mark.parametrize("name", ["readme.txt", "11111111-0000-4000-8000-000000000001", ".part"])
def test_what_others_have_put_there_stays(store, places, name):
    other = places / "www/agent_images" / name
    other.parent.mkdir(parents=True)
    other.touch()
    ImagesHere(store)()
    assert other.exists()


@pytest.mark.parametrize("state, stays", [
    (states.DEPLOYING, True), (states.DEPLOYWAIT, True), (states.DEPLOYHOLD, True),
    (states.DEPLOYFAIL, False), (states.ACTIVE, False), (states.AVAILABLE, False), (None, False),
])  # fmt: skip
def test_what_a_killed_conductor_offered_goes(store, places, make_node, state, stays):
    uuid = make_node(provision_state=state) if state else "11111111-0000-4000-8000-000000000001"
    offered = places / "www/agent_images" / f"{uuid}.0123456789abcdef"
    offered.parent.mkdir(parents=True)
    offered.touch()
    ImagesHere(store)()
    assert offered.exists() is stays

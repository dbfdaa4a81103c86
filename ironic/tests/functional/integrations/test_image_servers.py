"""How web servers with images are asked: whose certificates are believed, and who is shown credentials."""

import pytest

from ironic.integrations import image_servers
from ironic.integrations.http_client import NotConnected
from ironic.tests.agent_double import make_certificate, secured
from ironic.tests.functional.inspection.call_catcher import call_catcher
from ironic.tests.web_server import web_server


@pytest.mark.parametrize("said, believed", [("True", False), ("False", True), ("own", True), ("other", False)])
def test_an_option_says_whose_certificates_are_believed(conf, tmp_path, said, believed):
    (certificate, key), (other, _) = make_certificate(), make_certificate()
    (tmp_path / "own").write_text(certificate)
    (tmp_path / "other").write_text(other)
    (tmp_path / "image").write_bytes(b"image")
    conf(webserver_verify_ca=str(tmp_path / said) if said.islower() else said)
    with web_server(tmp_path, secured(certificate, key)) as web:
        if believed:
            with image_servers.get(f"{web.url}/image") as answer:
                assert answer.read() == b"image"
        else:
            with pytest.raises(NotConnected, match="certificate"):
                image_servers.get(f"{web.url}/image")


WANTED = "Basic bWU6cHc="


@pytest.fixture
def asking(tmp_path, conf):
    """Yield a web server that wants a login, which the options hold."""
    (tmp_path / "image").write_bytes(b"image")
    conf(
        deploy__image_server_auth_strategy="http_basic",
        deploy__image_server_user="me",
        deploy__image_server_password="pw",
    )
    with web_server(tmp_path) as web:
        web.login = WANTED
        yield web


def status(url):
    with image_servers.get(f"{url}/image") as answer:
        return answer.status


@pytest.mark.parametrize(
    "entry, permits, is_shown",
    [
        ("127.0.0.1", False, True),
        ("127.0.0.1:{port}", False, True),
        ("http://127.0.0.1:{port}", False, True),
        ("images.example", True, False),
        ("127.0.0.1:1", True, False),
        ("https://127.0.0.1:{port}", True, False),
        ("http://127.0.0.1", True, False),
        (None, True, True),
        (None, False, False),
    ],
)
def test_credentials_go_to_the_servers_that_are_named_and_nowhere_else(asking, conf, entry, permits, is_shown):
    named = [entry.format(port=asking.url.rpartition(":")[2])] if entry else []
    conf(deploy__image_server_auth_hosts=named, deploy__image_server_auth_permit_unknown_hosts=permits)
    assert status(asking.url) == (200 if is_shown else 401)


def test_a_redirect_takes_no_credentials_along(asking, conf):
    port = asking.url.rpartition(":")[2]
    with call_catcher() as elsewhere:
        elsewhere.statuses, elsewhere.location = [302], f"{asking.url}/image"
        conf(deploy__image_server_auth_hosts=[elsewhere.url.removeprefix("http://")])
        assert status(elsewhere.url) == 401
        assert elsewhere.asked[0][2]["Authorization"] == WANTED
        elsewhere.statuses = [302]
        conf(deploy__image_server_auth_hosts=[f"127.0.0.1:{port}"])
        assert status(elsewhere.url) == 200
        assert "Authorization" not in elsewhere.asked[1][2]


@pytest.mark.parametrize(
    "hosts, permits, is_said", [([], True, True), ([], False, False), (["a.example"], True, False)]
)
def test_credentials_that_every_server_is_shown_are_warned_of(asking, conf, caplog, hosts, permits, is_said):
    conf(deploy__image_server_auth_hosts=hosts, deploy__image_server_auth_permit_unknown_hosts=permits)
    image_servers.warn_of_unknown_hosts()
    assert ("image_server_auth_hosts" in caplog.text) is is_said

"""How web servers with images are asked: whose certificates are believed, and who is shown credentials."""

import os
import ssl

import pytest

from ironic.integrations import image_servers
from ironic.integrations.http_client import CallFailed, NotConnected
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


@pytest.mark.parametrize("said", ["pipe", "missing"])
def test_an_authority_that_is_no_file_fails_the_download_at_once(conf, tmp_path, said):
    os.mkfifo(tmp_path / "pipe")
    conf(webserver_verify_ca=str(tmp_path / said))
    with pytest.raises(CallFailed, match=r"\[DEFAULT\]webserver_verify_ca can't be read"):
        image_servers.tls_context()


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
    "hosts, permits, said",
    [([], True, "sent to every web server"), ([], False, "sent to no web server"), (["a.example"], True, "")],
)
def test_credentials_that_every_server_is_shown_or_none_are_warned_of(asking, conf, caplog, hosts, permits, said):
    conf(deploy__image_server_auth_hosts=hosts, deploy__image_server_auth_permit_unknown_hosts=permits)
    image_servers.warn_of_unknown_hosts()
    assert (said in caplog.text) if said else not caplog.text


def test_credentials_are_shown_to_nobody_by_default(asking, conf):
    assert status(asking.url) == 401
    conf(deploy__image_server_auth_hosts=["127.0.0.1"])
    assert status(asking.url) == 200


def old_server(tmp_path, conf, newest):
    """Return what offers an image with a certificate that is believed, by TLS of this version at most."""
    certificate, key = make_certificate()
    (tmp_path / "own").write_text(certificate)
    (tmp_path / "image").write_bytes(b"image")
    conf(webserver_verify_ca=str(tmp_path / "own"))
    context = secured(certificate, key)
    context.maximum_version = newest
    return web_server(tmp_path, context)


@pytest.mark.parametrize("verify", ["own", "False"])
def test_an_image_comes_by_no_older_tls_than_the_option_says(tmp_path, conf, verify):
    with old_server(tmp_path, conf, ssl.TLSVersion.TLSv1_2) as web:
        if verify == "False":
            conf(webserver_verify_ca=verify)
        with pytest.raises(NotConnected):
            image_servers.get(f"{web.url}/image")
        conf(webserver_tls_minimum_version="1.2")
        assert status(web.url) == 200
        conf(webserver_tls_ciphers="no such cipher")
        with pytest.raises(CallFailed, match="webserver_tls_ciphers"):
            image_servers.get(f"{web.url}/image")


def test_ciphers_of_the_option_are_the_only_ones(tmp_path, conf):
    with old_server(tmp_path, conf, ssl.TLSVersion.TLSv1_2) as web:
        conf(webserver_tls_minimum_version="1.2", webserver_tls_ciphers="ECDHE-RSA-AES256-GCM-SHA384")
        names = {one["name"] for one in image_servers.tls_context().get_ciphers() if one["protocol"] == "TLSv1.2"}
        assert names == {"ECDHE-RSA-AES256-GCM-SHA384"}
        assert web.url.startswith("https")

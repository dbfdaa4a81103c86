"""How web servers with images are asked: whose certificates are believed, and who is shown credentials."""

import pytest
import requests

from ironic.integrations import image_servers
from ironic.tests.agent_double import make_certificate, secured
from ironic.tests.web_server import web_server


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize("said, believed", [("True", False), ("False", True), ("own", True), ("other", False)])
def test_an_option_says_whose_certificates_are_believed(conf, tmp_path, said, believed):
    (certificate, key), (other, _) = make_certificate(), make_certificate()
    (tmp_path / "own").write_text(certificate)
    (tmp_path / "other").write_text(other)
    (tmp_path / "image").write_bytes(b"image")
    conf(webserver_verify_ca=str(tmp_path / said) if said.islower() else said)
    with web_server(tmp_path, secured(certificate, key)) as web:
        if believed:
            assert image_servers.get(f"{web.url}/image").content == b"image"
        else:
            with pytest.raises(requests.exceptions.SSLError):
                image_servers.get(f"{web.url}/image")

"""Files of a certificate that are none."""

import os
from pathlib import Path

import pytest

from ironic.command.http_server import Tls


@pytest.mark.parametrize("pipe", ["cert.pem", "key.pem"])
def test_a_pipe_in_the_place_of_a_certificate_is_refused_at_once(pipe: str, tmp_path: Path) -> None:
    for name in ("cert.pem", "key.pem"):
        os.mkfifo(tmp_path / name) if name == pipe else (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match=rf"cert\.pem \(\[api\]cert_file\).*{pipe} is no regular file$"):
        Tls(str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")).context()

"""No line of a log holds a secret or steers a terminal, whichever module writes it."""

import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import logging, sys
from ironic.conf import prepare
prepare(["--log-file", sys.argv[1], "--config-file", sys.argv[2]])
LOG = logging.getLogger("ironic.somewhere")
LOG.warning("no answer from %s", "https://user:hunter2@192.0.2.1/x?temp_url_sig=hunter2")
LOG.warning("step failed: %s", {"args": {"community": "hunter2"}})
LOG.info("the BMC says %s", "off\\x1b[2J\\x9b2J\\r\\x07\\tand on")
LOG.info("half %s of a character", "\\ud800")
try:
    raise ValueError("https://user:hunter2@192.0.2.2/")
except ValueError:
    logging.getLogger("library").exception("went wrong")
"""


def test_every_line_goes_through_the_mask(tmp_path: Path) -> None:
    log, conf = tmp_path / "log", tmp_path / "ironic.conf"
    conf.write_text("[DEFAULT]\n")
    subprocess.run([sys.executable, "-c", _PROGRAM, str(log), str(conf)], check=True, timeout=120)
    text = log.read_text()
    assert "192.0.2.1/x" in text and "192.0.2.2" in text and "Traceback" in text
    assert "hunter2" not in text
    assert "half \N{REPLACEMENT CHARACTER} of a character" in text
    assert "off [2J 2J  \tand on" in text

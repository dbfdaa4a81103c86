"""The commands of doc/many-machines.md make databases in which the schema is created."""

import re
import subprocess
import textwrap
import uuid
from pathlib import Path

import pytest

from ironic.tests.live_service import create_database
from ironic.tests.repository import ROOT

PASSWORD = "a-password"
# The servers of the tests are on the loopback and accept their superuser without a password.
CLIENTS = {"mariadb": "mariadb --host 127.0.0.1 --user root", "psql": "psql --host 127.0.0.1 --username postgres"}
REMOVAL = {
    "mariadb": "mariadb -e \"DROP DATABASE ironic; DROP USER ironic@'%'\"",
    "psql": 'psql -c "DROP DATABASE ironic" -c "DROP ROLE ironic"',
}


@pytest.mark.parametrize(("client", "scheme"), [("mariadb", "mysql+pymysql"), ("psql", "postgresql+psycopg2")])
def test_the_commands_make_a_database_for_the_schema(client: str, scheme: str, tmp_path: Path) -> None:
    page = (ROOT / "doc" / "many-machines.md").read_text()
    blocks = map(textwrap.dedent, re.findall(r"^   ```bash\n(.*?)^   ```", page, re.DOTALL | re.MULTILINE))
    (commands,) = [block for block in blocks if block.startswith(client)]
    found = re.search(rf"{re.escape(scheme)}://\S+@database/ironic", page)
    assert found
    name = f"page{uuid.uuid4().hex[:8]}"

    def filled(text: str) -> str:
        text = re.sub(r"\bironic\b", name, text).replace("<password>", PASSWORD).replace("@database/", "@127.0.0.1/")
        return re.sub(rf"^{client}", CLIENTS[client], text, flags=re.MULTILINE)

    try:
        subprocess.run(["bash", "-ec", filled(commands)], check=True, timeout=60)
        path = tmp_path / "ironic.conf"
        path.write_text(f"[database]\nconnection = {filled(found[0])}\n")
        create_database(path)
    finally:
        subprocess.run(["bash", "-ec", filled(REMOVAL[client])], check=True, timeout=60)

"""Lists of steps that are kept under a name: deploy templates and runbooks."""

import sqlalchemy as sa

from ironic.db.column_types import Json
from ironic.db.tables.columns import flag, json_dict, key, reference, table, text, timestamps, unique, uuid


def _steps(name: str, owner: str, place: str) -> sa.Table:
    """Declare the steps of one kind of list; ``place`` says where a step stands among the others."""
    return table(
        name,
        key(),
        reference(f"{owner}_id", f"{owner}s.id", on_delete="CASCADE", nullable=False),
        text("interface", 255, nullable=False),
        text("step", 255, nullable=False),
        sa.Column("args", Json(dict), nullable=False),
        sa.Column(place, sa.Integer, nullable=False),
        sa.Index(f"{name}_{owner}_id_idx", f"{owner}_id"),
    )


deploy_templates = table(
    "deploy_templates",
    key(),
    uuid(),
    *timestamps(),
    text("name", 255, nullable=False),
    json_dict("extra"),
    unique("deploy_templates", "uuid"),
    unique("deploy_templates", "name"),
)

deploy_template_steps = _steps("deploy_template_steps", "deploy_template", "priority")

runbooks = table(
    "runbooks",
    key(),
    uuid(),
    *timestamps(),
    text("name", 255, nullable=False),
    text("description", 255),
    flag("public", False),
    text("owner", 255),
    flag("disable_ramdisk", False),
    json_dict("extra"),
    unique("runbooks", "uuid"),
    unique("runbooks", "name"),
)

runbook_steps = _steps("runbook_steps", "runbook", "order")

runbook_traits = table(
    "runbook_traits",
    reference("runbook_id", "runbooks.id", on_delete="CASCADE", primary_key=True, autoincrement=False),
    text("trait", 255, primary_key=True),
    sa.Index("runbook_traits_idx", "trait"),
)

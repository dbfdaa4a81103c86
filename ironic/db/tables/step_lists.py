"""Tables of named lists of steps: deploy templates and runbooks."""

from typing import Any

import sqlalchemy as sa

from ironic.db.tables.columns import Known, flag, json_dict, key, plain, reference, table, text, unique


def _steps(name: str, owner: str, place: str) -> sa.Table:
    """Declare the steps of one kind of list; ``place`` is the column that orders them."""
    named = {
        f"{owner}_id": reference(f"{owner}s.id", on_delete="CASCADE", nullable=False),
        "interface": text(255, nullable=False),
        "step": text(255, nullable=False),
        "args": json_dict(nullable=False),
        place: plain(sa.Integer, nullable=False),
    }
    return table(name, sa.Index(f"{name}_{owner}_id_idx", f"{owner}_id"), id=key(), **named)


class DeployTemplateColumns(
    Known,
    name="deploy_templates",
    also=(unique("deploy_templates", "uuid"), unique("deploy_templates", "name")),
):
    """The columns of deploy templates."""

    name: str = text(255)
    extra: dict[str, Any] = json_dict()


deploy_templates = DeployTemplateColumns.table

deploy_template_steps = _steps("deploy_template_steps", "deploy_template", "priority")


class RunbookColumns(Known, name="runbooks", also=(unique("runbooks", "uuid"), unique("runbooks", "name"))):
    """The columns of runbooks."""

    name: str = text(255)
    description: str | None = text(255)
    public: bool = flag(False)
    owner: str | None = text(255)
    disable_ramdisk: bool = flag(False)
    extra: dict[str, Any] = json_dict()


runbooks = RunbookColumns.table

runbook_steps = _steps("runbook_steps", "runbook", "order")

runbook_traits = table(
    "runbook_traits",
    sa.Index("runbook_traits_idx", "trait"),
    runbook_id=reference("runbooks.id", on_delete="CASCADE", primary_key=True, autoincrement=False, nullable=False),
    trait=text(255, primary_key=True, nullable=False),
)

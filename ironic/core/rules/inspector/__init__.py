"""Rules in the dialect of the standalone inspector: JSON paths, conditions, actions that can be taken back.

`stored_form` checks a document, `shown_form` and `short_form` return it as it was posted. The rules run beside those of
the rule language, in the same workspace and within the same budget. What they are for, and how they differ, is in
doc/inspector-rules.md.
"""

from ironic.core.rules.inspector.inspector_documents import (
    DIALECTS,
    INSPECTOR,
    IRONIC,
    InspectorRule,
    check_plugins,
    compile_rule,
    short_form,
    shown_form,
    stored_form,
)

__all__ = [
    "DIALECTS",
    "INSPECTOR",
    "IRONIC",
    "InspectorRule",
    "check_plugins",
    "compile_rule",
    "short_form",
    "shown_form",
    "stored_form",
]

"""The texts of failures for last_error, maintenance_reason and node history.

The clause that helps comes first: what the BMC, the agent or the operator's setting is to blame for. What failed with
it follows as a sentence of its own. The node is known where such a text is read, so its UUID is there once.
"""

import re
from typing import Final

_ENDS: Final = (".", "!", "?")


def failure_text(headline: str, reason: str, node: str | None = None) -> str:
    """Return the reason and then the headline, which names what failed, without a full stop."""
    if node is not None and node in headline:
        reason = without_node(reason, node)
    reason = reason.strip() or "No reason was given"
    return f"{reason}{'' if reason.endswith(_ENDS) else '.'} {headline}."


def without_node(text: str, node: str) -> str:
    """Return a text in which a node is not named by its UUID: "for node U" goes, "node U" becomes "the node"."""
    text = text.removeprefix(f"Node {node}: ")
    text = re.sub(rf" for node {re.escape(node)}(?![\w-])", "", text)
    return re.sub(rf"\b([Nn])ode {re.escape(node)}(?![\w-])", lambda found: _THE[found[1]], text)


_THE: Final = {"N": "The node", "n": "the node"}

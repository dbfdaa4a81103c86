"""A process with rules of its own, as a conductor has them: for each line on standard input it says what it would run.

    python -m ironic.tests.functional.inspection.rule_reader DATABASE-URL

The answer is a JSON object: the `rules` by description in the order they run, and how many were `compiled` so far.
"""

import json
import sys

from ironic.db import connect
from ironic.inspection.rules import RuleBook, rule_book


def main() -> None:
    """Answer until the input ends."""
    store, rules = connect(sys.argv[1]), RuleBook()
    for _ in sys.stdin:
        found = [rule.description for rule in rules.rules(store, ("preprocess", "main"))]
        sys.stdout.write(json.dumps({"rules": found, "compiled": rule_book._compiled.cache_info().misses}) + "\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main()

"""Run by the interpreter of every program that a test starts: no calls while a transaction is open there either."""

import contextlib

# An environment of another project, that of the agent, has no transactions of ours.
with contextlib.suppress(ImportError):
    from ironic.tests import transaction_guard

    transaction_guard.install()

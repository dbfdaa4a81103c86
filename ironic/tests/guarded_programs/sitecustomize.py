"""Run by the interpreter of every program that a test starts: no calls while a transaction is open there either."""

from ironic.tests import transaction_guard

transaction_guard.install()

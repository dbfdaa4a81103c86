"""The conductor: owns nodes, takes their locks, runs flows on its workers, and ends waits that take too long."""

# Imported first: it makes the libraries choose native threads, futurist among them.
import ironic.conf  # noqa: F401

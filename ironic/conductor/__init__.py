"""The conductor: owns nodes, takes their locks, runs flows on its workers, looks after what waits."""

# First of all: it makes the libraries choose native threads, futurist among them.
import ironic.conf  # noqa: F401

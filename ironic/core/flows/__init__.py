"""The states of a node and the ways between them: flows, their steps, and what a flow waits for."""

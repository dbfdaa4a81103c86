"""The flows of a conductor: one module per operation, and the step engine that runs them all."""

"""RPC between the API and conductors: one RPC API, carried in process or over a message bus."""

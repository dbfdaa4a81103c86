"""How the API and others talk to conductors: one conversation, carried in process or by a message bus."""

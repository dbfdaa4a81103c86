"""The steps, in the order their `down_revision` says. A step that was released is never changed."""

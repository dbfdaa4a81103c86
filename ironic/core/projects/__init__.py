"""What projects may do with what is theirs: which fields they write, and what share of the service they have."""

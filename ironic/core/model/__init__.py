"""The resources of the API, field by field: one module per aggregate, one line per field.

A line declares everything about a field except its column type: who may write and see it, in which versions, how lists
are filtered and sorted by it, whether inspection rules may write it and which notifications carry it. Documents,
filters, writes of rules, notifications and the OpenAPI description are derived from these lines (`fields` is the
mechanism). The API adds the functions for values that are computed from a request or the database.
"""

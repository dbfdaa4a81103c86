"""The things that the service keeps, field by field: one module per aggregate, one line per field.

A line says all that is to be known of a field but its column: who may write it and who may see it, in which versions,
how it filters and sorts, what rules and listeners have of it. Documents, filters, rule writes, notifications and the
description of the API are read off these lines (`fields` is the mechanism). What takes a request or the database to be
computed is bound to the lines by the API.
"""

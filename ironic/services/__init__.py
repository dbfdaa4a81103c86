"""Units of work on the database that are neither HTTP nor BMC, for the API and the conductor alike.

Each function opens its transaction, or joins one that is open, and leaves rows that fit each other. What only the
caller can judge, a right or the form of a patch, it judges in a function that it hands in and that is called while the
row is held still. Nothing here asks a conductor, a BMC or another service.
"""

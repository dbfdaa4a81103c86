"""Units of work on the database, for the API and the conductor alike.

Each function opens a transaction, or joins an open one, and leaves consistent rows. The caller passes in a function for
what only it can check, such as a right or the form of a patch; it is called while the row is locked. Nothing here
calls a conductor, a BMC or another service.
"""

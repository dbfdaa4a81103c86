"""The API of the standalone inspector, for clients and scripts that still call it (port 5050).

A second route table for the application of `ironic.api.app`: nodes, data and rules are those of the bare metal API, and
so are access checks, limits and authentication. The modules `introspection*` and `ramdisk_data` have the handlers,
`inspector_versions` the versions, `old_errors` the one shape of errors.
"""

"""Where inventories are kept: in the database, in an object store, or nowhere ([inventory]data_backend)."""

from ironic.inspection.storage.backend import Backend, InDatabase, InObjectStore, Nowhere
from ironic.inspection.storage.choice import from_conf

__all__ = ["Backend", "InDatabase", "InObjectStore", "Nowhere", "from_conf"]

"""A store in memory that is obviously right: the model other stores are compared with."""

from remembrancer.adapters.reference.store import ReferenceStore

__all__ = ["ReferenceStore"]

"""An in-memory store, simple enough to be evidently correct; tests compare other stores with it."""

from remembrancer.adapters.reference.store import ReferenceStore

__all__ = ["ReferenceStore"]

"""The conformance suite of an index: what any `Index` must do, tested through the protocol alone.

Subclass it, and say how a store to write to and the index over it are made:

    from remembrancer.ports.index import Index
    from remembrancer.testing.index_contract import IndexContract

    class TestMyIndex(IndexContract):
        async def make_store(self) -> Store:
            return ReferenceStore()

        def make_index(self) -> Index:
            return MyIndex()

An index declares its capabilities. A test that needs one it lacks is skipped, and what the index lacks must be absent
from its answers. Expected numbers are computed from the constants it declares. Similarities may differ by 2e-3, BM25 by
1e-4 of its value.
"""

from __future__ import annotations

from remembrancer.testing.contract import (
    capabilities,
    context_features,
    filters,
    machine,
    neighbours,
    past,
    search,
    strength,
    token_embeddings,
    visibility,
    wall,
)


class IndexContract(
    capabilities.CapabilitiesContract,
    search.LexicalContract,
    search.DenseContract,
    search.UnionContract,
    search.FreshnessContract,
    search.FoundAfterImportContract,
    strength.FoundStatesContract,
    filters.FoundByFilterContract,
    visibility.FoundVisibilityContract,
    visibility.FoundSharingContract,
    neighbours.NeighbourCoverageContract,
    neighbours.HiddenNeighboursContract,
    context_features.ContextContract,
    context_features.ParticipantsContract,
    token_embeddings.FoundWordsContract,
    past.FoundInThePastContract,
    wall.IndexWallContract,
):
    """Every rule of the `Index` protocol. A subclass gives `make_store` and `make_index`."""


class HistoryContract(machine.MachineContract):
    """Random histories: a store with its index answers like the reference store with the textbook index."""

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

from remembrancer.testing.contract.capabilities import CapabilitiesContract
from remembrancer.testing.contract.context_features import (
    ContextFeaturesContract,
    ContextLegContract,
    CueFlagsContract,
    SessionContract,
    SpeakerMatchContract,
    StreamContract,
)
from remembrancer.testing.contract.filters import FoundByFilterContract
from remembrancer.testing.contract.machine import MachineContract
from remembrancer.testing.contract.neighbours import HiddenNeighboursContract, NeighbourCoverageContract
from remembrancer.testing.contract.participants import ParticipantsContract
from remembrancer.testing.contract.search import (
    DenseContract,
    FoundAfterImportContract,
    FreshnessContract,
    LexicalContract,
    UnionContract,
)
from remembrancer.testing.contract.strength import FoundStatesContract
from remembrancer.testing.contract.token_embeddings import FoundWordsContract
from remembrancer.testing.contract.visibility import FoundSharingContract, FoundVisibilityContract
from remembrancer.testing.contract.wall import IndexWallContract


class IndexContract(
    CapabilitiesContract,
    LexicalContract,
    DenseContract,
    UnionContract,
    FreshnessContract,
    FoundStatesContract,
    FoundByFilterContract,
    FoundVisibilityContract,
    FoundSharingContract,
    NeighbourCoverageContract,
    HiddenNeighboursContract,
    SessionContract,
    StreamContract,
    SpeakerMatchContract,
    CueFlagsContract,
    ContextLegContract,
    ContextFeaturesContract,
    ParticipantsContract,
    FoundWordsContract,
    FoundAfterImportContract,
    IndexWallContract,
):
    """Every rule of the `Index` protocol. A subclass gives `make_store` and `make_index`."""


class HistoryContract(MachineContract):
    """Random histories: the store and its index answer like the reference store and the textbook index."""

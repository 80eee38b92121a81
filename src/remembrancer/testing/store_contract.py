"""The store's conformance suite: what any `Store` must do, tested through the protocol alone.

Subclass it in a test module of your own, under a name pytest collects, and say how a store is made:

    from remembrancer.ports.store import Store
    from remembrancer.testing.store_contract import StoreContract

    class TestMyStore(StoreContract):
        @pytest.fixture(autouse=True)
        def in_folder(self, tmp_path: Path) -> None:
            self.files = (tmp_path / f"{number}.db" for number in itertools.count())

        async def make_store(self) -> Store:
            return await MyStore.open(next(self.files))

Each test has a store of its own, made and closed in one event loop; some make a second one, the generated tests many.
The suite needs pytest and hypothesis, and no plugin for asyncio. Where the protocol leaves an order open (`pending`) or
allows less than exact numbers (similarity to 2e-3, BM25 to 1e-4 of its value), so does the suite.
"""

from __future__ import annotations

from remembrancer.testing.contract.access import ClaimContract, CountedNowhereContract, KeyContract
from remembrancer.testing.contract.archive import (
    ArchiveContract,
    ArchivedOnceContract,
    ArchiveListContract,
    ArchiveTransferContract,
)
from remembrancer.testing.contract.before import PendingTurnContract
from remembrancer.testing.contract.effect import (
    CursorContract,
    EffectReachContract,
    ExpectedContract,
    InsertedContract,
    MovedContract,
    RevisedContract,
    StrengthByEffectContract,
    SupersededByEffectContract,
)
from remembrancer.testing.contract.erasing import (
    ChosenForErasureContract,
    ErasedEventContract,
    ErasedMemoryContract,
    ErasedWholeContract,
    QuotedContract,
    ReceiptContract,
    ToldAnewContract,
)
from remembrancer.testing.contract.filters import FilterContract, MetadataContract
from remembrancer.testing.contract.health import CrewsContract, SnapshotContract, VitalsContract
from remembrancer.testing.contract.jobs import DeferralContract, RunContract
from remembrancer.testing.contract.journal import JournalContract
from remembrancer.testing.contract.machine import MachineContract
from remembrancer.testing.contract.memories import (
    InsertContract,
    LifeContract,
    ListContract,
    ReviseContract,
    StatsContract,
    StatusContract,
    TopicContract,
)
from remembrancer.testing.contract.neighbours import HiddenNeighboursContract, NearbyContract
from remembrancer.testing.contract.participants import ParticipantsContract
from remembrancer.testing.contract.priorities import (
    MarkedMemoriesContract,
    PriorityContract,
    PriorityTransferContract,
)
from remembrancer.testing.contract.reading import (
    ChosenEventsContract,
    DaysOfEventsContract,
    PageContract,
    RecordedContract,
    WordsOfEventsContract,
)
from remembrancer.testing.contract.relations import LinkedVectorsContract, RelateContract, RelationContract
from remembrancer.testing.contract.reviews import EvidenceContract, ExposedInContract, ReviewLogContract
from remembrancer.testing.contract.search import (
    DenseContract,
    FreshnessContract,
    LexicalContract,
    UnionContract,
)
from remembrancer.testing.contract.spending import SpendingContract
from remembrancer.testing.contract.states import StatesContract
from remembrancer.testing.contract.strength import (
    AdjustContract,
    ExposureContract,
    FoundStatesContract,
    RetireByAdjustingContract,
)
from remembrancer.testing.contract.supersession import (
    InvalidateContract,
    SupersedeContract,
    SupersededTopicContract,
)
from remembrancer.testing.contract.surroundings import (
    AskedSurroundingsContract,
    ContextLegContract,
    MarksContract,
    SessionContract,
    SpokenContract,
    StreamContract,
)
from remembrancer.testing.contract.sweeping import SweepContract
from remembrancer.testing.contract.tails import StreamEventsContract, TailContract
from remembrancer.testing.contract.transfer import ExportContract, ImportContract
from remembrancer.testing.contract.vectors import DeferContract, ReadVectorsContract, VectorContract
from remembrancer.testing.contract.visibility import SharingContract, VisibilityContract
from remembrancer.testing.contract.wall import WallContract
from remembrancer.testing.contract.words import MovedWordsContract, WordsContract


class StoreContract(
    JournalContract,
    ChosenEventsContract,
    DaysOfEventsContract,
    WordsOfEventsContract,
    PageContract,
    RecordedContract,
    PriorityContract,
    MarkedMemoriesContract,
    PriorityTransferContract,
    InsertContract,
    TopicContract,
    ReviseContract,
    AdjustContract,
    RetireByAdjustingContract,
    ExposureContract,
    FoundStatesContract,
    StatesContract,
    SupersedeContract,
    SupersededTopicContract,
    InvalidateContract,
    StatusContract,
    ExpectedContract,
    CursorContract,
    InsertedContract,
    RevisedContract,
    MovedContract,
    SupersededByEffectContract,
    StrengthByEffectContract,
    EffectReachContract,
    TailContract,
    StreamEventsContract,
    SweepContract,
    EvidenceContract,
    ReviewLogContract,
    ExposedInContract,
    ArchiveContract,
    ArchivedOnceContract,
    ArchiveListContract,
    RunContract,
    DeferralContract,
    SpendingContract,
    KeyContract,
    ClaimContract,
    CountedNowhereContract,
    ListContract,
    FilterContract,
    MetadataContract,
    RelationContract,
    RelateContract,
    LinkedVectorsContract,
    StatsContract,
    LifeContract,
    VisibilityContract,
    SharingContract,
    WallContract,
    LexicalContract,
    DenseContract,
    UnionContract,
    FreshnessContract,
    NearbyContract,
    HiddenNeighboursContract,
    SessionContract,
    SpokenContract,
    StreamContract,
    MarksContract,
    ContextLegContract,
    AskedSurroundingsContract,
    ParticipantsContract,
    VectorContract,
    ReadVectorsContract,
    DeferContract,
    PendingTurnContract,
    WordsContract,
    MovedWordsContract,
    VitalsContract,
    SnapshotContract,
    CrewsContract,
    ExportContract,
    ImportContract,
    ArchiveTransferContract,
    ErasedMemoryContract,
    ErasedEventContract,
    ToldAnewContract,
    ErasedWholeContract,
    QuotedContract,
    ReceiptContract,
    ChosenForErasureContract,
    MachineContract,
):
    """Every rule of the `Store` protocol. A subclass gives `make_store`."""

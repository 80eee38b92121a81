"""The conformance suites of the record store: one for each role, and `StoreContract`, which is all of them.

Subclass one in a test module of your own, under a name that pytest collects, and say how a store is made:

    from remembrancer.ports.store import Store
    from remembrancer.testing.store_contract import StoreContract

    class TestMyStore(StoreContract):
        @pytest.fixture(autouse=True)
        def in_folder(self, tmp_path: Path) -> None:
            self.files = (tmp_path / f"{number}.db" for number in itertools.count())

        async def make_store(self) -> Store:
            return await MyStore.open(next(self.files))

While a store is being written, the suite of one role (`JournalSuite`, `MemoriesSuite`, ...) can run alone. Each test
has its own store, made and closed in one event loop; some make a second one, generated tests many. They need pytest and
hypothesis, and no plugin for asyncio. Where a protocol leaves an order open (`pending`), so does its suite.

What finds memories is tested by `index_contract`.
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
from remembrancer.testing.contract.changes import ChangesContract
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
from remembrancer.testing.contract.memories import (
    InsertContract,
    LifeContract,
    ListContract,
    ReviseContract,
    StatsContract,
    StatusContract,
    TopicContract,
)
from remembrancer.testing.contract.priorities import MarkedMemoriesContract, PriorityContract, PriorityTransferContract
from remembrancer.testing.contract.reading import (
    ChosenEventsContract,
    DaysOfEventsContract,
    PageContract,
    RecordedContract,
    WordsOfEventsContract,
)
from remembrancer.testing.contract.relations import LinkedVectorsContract, RelateContract, RelationContract
from remembrancer.testing.contract.reviews import EvidenceContract, ExposedInContract, ReviewLogContract
from remembrancer.testing.contract.spending import SpendingContract
from remembrancer.testing.contract.states import StatesContract
from remembrancer.testing.contract.strength import AdjustContract, ExposureContract, RetireByAdjustingContract
from remembrancer.testing.contract.supersession import InvalidateContract, SupersedeContract, SupersededTopicContract
from remembrancer.testing.contract.sweeping import SweepContract
from remembrancer.testing.contract.tails import StreamEventsContract, TailContract
from remembrancer.testing.contract.transfer import ExportContract, ImportContract
from remembrancer.testing.contract.vectors import DeferContract, ReadVectorsContract, VectorContract
from remembrancer.testing.contract.visibility import SharingContract, VisibilityContract
from remembrancer.testing.contract.wall import WallContract
from remembrancer.testing.contract.words import MovedWordsContract, WordsContract


class JournalSuite(
    JournalContract,
    ChosenEventsContract,
    DaysOfEventsContract,
    WordsOfEventsContract,
    PageContract,
    RecordedContract,
    PriorityContract,
    MarkedMemoriesContract,
    TailContract,
    StreamEventsContract,
    ArchiveContract,
    ArchivedOnceContract,
    ArchiveListContract,
):
    """The role `ports.journal.Journal`."""


class MemoriesSuite(
    InsertContract,
    TopicContract,
    ReviseContract,
    StatusContract,
    ListContract,
    AdjustContract,
    RetireByAdjustingContract,
    ExposureContract,
    StatesContract,
    SupersedeContract,
    SupersededTopicContract,
    InvalidateContract,
    ExpectedContract,
    CursorContract,
    InsertedContract,
    RevisedContract,
    MovedContract,
    SupersededByEffectContract,
    StrengthByEffectContract,
    EffectReachContract,
    SweepContract,
    RelationContract,
    RelateContract,
    FilterContract,
    MetadataContract,
    VisibilityContract,
    SharingContract,
    CrewsContract,
):
    """The role `ports.memories.Memories`."""


class EmbeddingsSuite(
    VectorContract,
    ReadVectorsContract,
    DeferContract,
    PendingTurnContract,
    LinkedVectorsContract,
    WordsContract,
    MovedWordsContract,
):
    """The role `ports.embeddings.Embeddings`."""


class ReviewsSuite(
    EvidenceContract,
    ReviewLogContract,
    ExposedInContract,
):
    """The role `ports.reviews.Reviews`."""


class JobsSuite(
    RunContract,
    DeferralContract,
    SpendingContract,
):
    """The role `ports.jobs.Jobs`."""


class AccessSuite(
    KeyContract,
    ClaimContract,
    CountedNowhereContract,
):
    """The role `ports.access.Access`."""


class ErasuresSuite(
    ErasedMemoryContract,
    ErasedEventContract,
    ToldAnewContract,
    ErasedWholeContract,
    QuotedContract,
    ReceiptContract,
    ChosenForErasureContract,
):
    """The role `ports.erasure.Erasures`."""


class TransferSuite(
    ExportContract,
    ImportContract,
    ArchiveTransferContract,
    PriorityTransferContract,
):
    """The role `ports.transfer.Transfer`."""


class InspectionSuite(
    StatsContract,
    VitalsContract,
    SnapshotContract,
):
    """The role `ports.inspection.Inspection`."""


class ChangesSuite(ChangesContract):
    """What an index is told of: `ports.changes.ReadView`, through `Store.read`."""


class StoreContract(
    JournalSuite,
    MemoriesSuite,
    EmbeddingsSuite,
    ReviewsSuite,
    JobsSuite,
    AccessSuite,
    ErasuresSuite,
    TransferSuite,
    InspectionSuite,
    ChangesSuite,
    LifeContract,
    WallContract,
):
    """All roles of a store, its opening and closing, and the wall between workspaces. A subclass gives `make_store`."""

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

While a store is being written, the suite of one role (`JournalSuite`, `MemoriesSuite`, ...) can run alone: a test that
prepares or observes through a role that the store lacks is skipped.

Each test has its own store, made and closed in one event loop; some make a second one, generated tests many. They need
pytest and hypothesis, and no plugin for asyncio. If a protocol leaves an order open (`pending`), so does its suite.
What finds memories is tested by `index_contract`.
"""

from __future__ import annotations

from remembrancer.testing.contract import (
    access,
    archive,
    audit,
    before,
    candidates,
    changes,
    effect,
    erasing,
    filters,
    health,
    index_files,
    jobs,
    journal,
    memories,
    notifications,
    outcomes,
    past,
    priorities,
    reading,
    recalls,
    relations,
    retention,
    reviews,
    spaces,
    strength,
    supersession,
    sweeping,
    tails,
    token_embeddings,
    transfer,
    vectors,
    visibility,
    wall,
)


class JournalSuite(
    journal.JournalContract,
    reading.ReadingContract,
    priorities.PriorityContract,
    tails.TailContract,
    archive.ArchiveContract,
):
    """The role `ports.journal.Journal`."""


class MemoriesSuite(
    memories.MemoryContract,
    strength.StrengthContract,
    strength.StatesContract,
    supersession.SupersessionContract,
    effect.EffectContract,
    sweeping.SweepContract,
    relations.RelationContract,
    filters.FilterContract,
    visibility.VisibilityContract,
    visibility.SharingContract,
    health.CrewsContract,
):
    """The role `ports.memories.Memories`."""


class EmbeddingsSuite(
    vectors.VectorContract,
    spaces.SpacesContract,
    before.PendingTurnContract,
    relations.LinkedVectorsContract,
    token_embeddings.TokenEmbeddingsContract,
):
    """The role `ports.embeddings.Embeddings`."""


class ReviewsSuite(reviews.ReviewContract):
    """The role `ports.reviews.Reviews`."""


class OutcomesSuite(outcomes.OutcomeContract):
    """The role `ports.outcomes.TaskOutcomes`."""


class JobsSuite(jobs.JobsContract, jobs.SpendingContract):
    """The role `ports.jobs.Jobs`."""


class AccessSuite(access.AccessContract):
    """The role `ports.access.Access`."""


class ErasuresSuite(erasing.ErasingContract, erasing.ErasedWholeContract, erasing.ReceiptContract):
    """The role `ports.erasure.Erasures`."""


class AuditSuite(audit.AuditContract):
    """The role `ports.audit.AuditTrail`."""


class RetentionSuite(
    retention.RulesContract, retention.HoldsContract, retention.HeldContract, retention.SelectionContract
):
    """The role `ports.retention.RetentionRecords`."""


class RecallsSuite(recalls.RecallsContract):
    """The role `ports.recalls.Recalls`."""


class IndexFilesSuite(index_files.IndexFilesContract):
    """The role `ports.index_files.IndexFiles`."""


class TransferSuite(
    transfer.BackupContract,
    transfer.ExportContract,
    transfer.ImportContract,
    archive.ArchiveTransferContract,
    priorities.PriorityTransferContract,
):
    """The role `ports.transfer.Transfer`."""


class InspectionSuite(memories.StatsContract, health.HealthContract):
    """The role `ports.inspection.Inspection`."""


class NotificationsSuite(notifications.NotificationsContract):
    """The role `ports.notifications.Notifications`."""


class ChangesSuite(changes.ChangesContract, candidates.CandidateReadsContract, past.PastContract):
    """The read view that an index is fed from: `ports.changes.ReadView`, through `Store.read`."""


class StoreContract(
    JournalSuite,
    MemoriesSuite,
    EmbeddingsSuite,
    ReviewsSuite,
    OutcomesSuite,
    JobsSuite,
    AccessSuite,
    ErasuresSuite,
    AuditSuite,
    RetentionSuite,
    RecallsSuite,
    IndexFilesSuite,
    TransferSuite,
    InspectionSuite,
    NotificationsSuite,
    ChangesSuite,
    memories.LifeContract,
    wall.ReadsContract,
    wall.WallContract,
):
    """All roles of a store, its opening and closing, and the isolation of workspaces. A subclass gives `make_store`."""

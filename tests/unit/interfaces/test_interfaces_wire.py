"""Each JSON shape contains its domain value's fields, and is read back from its JSON unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from remembrancer import Remembrancer
from remembrancer.domain.event import Origin
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.memory import Memory, Revision, Status, Tier
from remembrancer.domain.recall import Explanation, Part, Stage
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.review import Rating, Review
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.engine.exchange import Imported
from remembrancer.engine.inspect import MemoryDetails, WhyNot
from remembrancer.ingest.problem import Problem
from remembrancer.interfaces.wire.files import ExportedOut, ImportedOut, ObservedOut
from remembrancer.interfaces.wire.journal import EventOut
from remembrancer.interfaces.wire.memories import FeedbackOut, MemoriesOut, MemoryDetailsOut, MemoryOut, RevisionOut
from remembrancer.interfaces.wire.recall import ExplanationOut, PartOut, RecallOut, WhyNotOut
from remembrancer.interfaces.wire.shape import AgeOut, Wire
from remembrancer.interfaces.wire.state import DoctorOut, HealthOut, MemoryHealthOut, StatsOut
from remembrancer.ports.inspection import Finding, Stats

AT = datetime(2026, 3, 4, 9, 0, 0, 123456, tzinfo=UTC)
ID = UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f")
MEMORY = Memory(
    id=ID,
    scope=Scope(workspace="acme", agent="coder"),
    visibility=Visibility.CREW,
    tier=Tier.SEMANTIC,
    kind="decision",
    title="Memory",
    text="Checkout needs 2 GiB \x1b[31m",
    source="runbook",
    origin=Origin.IMPORT,
    occurred_from=AT,
    occurred_to=AT + timedelta(hours=1),
    recorded_at=AT,
    valid_until=AT + timedelta(days=1),
    superseded_by=ID,
    superseded_at=AT,
    retired_at=AT,
    topic_key="memory",
    key="k",
    revision=3,
    tags=("a", "b"),
    metadata={"host": ["db-1", 2, None]},
    status=Status.RETIRED,
    strength=Strength(importance=0.9, priority=7, usage=Usage(shown=2, last_shown_at=AT)),
)

SNAPSHOT = HealthSnapshot(
    crew="sales",
    day=AT.date(),
    taken_at=AT,
    metrics=Metrics(freshness=90.0, coverage=40.0, coherence=None, efficiency=None, reachability=0.0),
    score=50.0,
)


@pytest.fixture
def memory() -> Iterator[Remembrancer]:
    with Remembrancer.open(":memory:", embedder="none", clock=lambda: AT) as opened:
        yield opened


def comes_back(shape: Wire) -> None:
    assert type(shape).model_validate_json(shape.model_dump_json()) == shape


def test_a_memory_keeps_every_field() -> None:
    shape = MemoryOut.of(MEMORY)
    comes_back(shape)
    told = json.loads(shape.model_dump_json())
    assert set(told) - {"flagged"} == set(Memory.__dataclass_fields__)  # derived from the tags
    assert told["id"] == str(ID)
    assert told["recorded_at"] == "2026-03-04T09:00:00.123456Z"
    assert told["tags"] == ["a", "b"]
    assert told["metadata"] == {"host": ["db-1", 2, None]}
    assert told["scope"] == {"workspace": "acme", "project": None, "crew": None, "agent": "coder", "session": None}
    assert set(told["strength"]) == set(Strength.__dataclass_fields__)
    assert set(told["strength"]["usage"]) == set(Usage.__dataclass_fields__)
    assert told["strength"]["usage"]["last_shown_at"] == told["recorded_at"]


def test_an_event_keeps_every_field(memory: Remembrancer) -> None:
    local = AT.astimezone(timezone(timedelta(hours=2)))
    event = memory.observe("hello", actor="Ana", occurred_at=local, payload={"a": 1}, refs={"b": [2]}, key="k")
    shape = EventOut.of(event)
    comes_back(shape)
    told = json.loads(shape.model_dump_json())
    assert set(told) == set(event.__dataclass_fields__)
    assert told["occurred_at"] == "2026-03-04T09:00:00.123456Z"
    assert (told["payload"], told["refs"]) == ({"a": 1}, {"b": [2]})


def test_a_recall_keeps_its_hits_and_reasons(memory: Remembrancer) -> None:
    memory.remember("Checkout needs 2 GiB", occurred_at=AT - timedelta(days=15))
    recall = memory.recall("checkout", explain=True)
    shape = RecallOut.of(recall, rendered=recall.render())
    comes_back(shape)
    [hit] = shape.hits
    assert (hit.rank, hit.score) == (1, recall[0].score)
    assert hit.age == AgeOut(seconds=15 * 86_400, spoken="2 weeks ago")
    assert hit.explanation is not None
    assert hit.explanation.parts.contribution == hit.score
    assert hit.explanation.signals["similarity"] is None
    assert hit.explanation.matched == ["Checkout"]
    assert hit.explanation.reason == recall[0].explanation.reason
    assert sum(hit.explanation.groups.values()) == pytest.approx(hit.score)
    assert RecallOut.of(recall, explained=False).hits == [hit.model_copy(update={"explanation": None})]
    assert shape.timings_ms.keys() == recall.timings.keys()
    assert shape.degraded == dict(recall.degraded)
    assert shape.rendered is not None
    assert "Checkout needs 2 GiB" in shape.rendered


def test_an_explanation_keeps_its_tree() -> None:
    leaf = Part("similarity", None, 0.0)
    tree = Part("weighted sum", 0.5, 0.5, (Part("min-max", 1.0, 0.5, (leaf,)),))
    shape = ExplanationOut.of(Explanation(tree, {"similarity": None}, {"lexical": 2}, ("a",)))
    comes_back(shape)
    assert shape.parts.parts[0].parts[0] == PartOut(
        label="similarity", value=None, contribution=0.0, multiplied=False, parts=[]
    )
    assert shape.ranks == {"lexical": 2}


def test_the_details_of_a_memory_contain_all_that_belongs_to_it(memory: Remembrancer) -> None:
    event = memory.observe("hello")
    revision = Revision(memory_id=ID, number=1, title=None, text="before", replaced_at=AT)
    relation = Relation(source=ID, target=uuid4(), kind=RelationKind.SUPPORTS, weight=0.5, created_at=AT)
    review = Review(
        memory_id=ID,
        rating=Rating.GOOD,
        at=AT,
        evidence_until=AT,
        previous=None,
        stability_before=2.5,
        stability=7.25,
        difficulty_before=5.0,
        difficulty=4.75,
        by="openai:m",
    )
    details = MemoryDetails(
        memory=MEMORY,
        cues=(),
        events=(event,),
        revisions=(revision,),
        relations=(relation,),
        audit=(),
        reviews=(review,),
    )
    shape = MemoryDetailsOut.of(details)
    comes_back(shape)
    assert shape.revisions == [RevisionOut(number=1, title=None, text="before", replaced_at=AT)]
    assert shape.relations[0].target == relation.target
    assert shape.events[0].id == event.id
    assert (shape.reviews[0].rating, shape.reviews[0].stability) == ("good", 7.25)


@pytest.mark.parametrize(
    "shape",
    [
        WhyNotOut.of(WhyNot(memory=MEMORY, returned=False, reason="r", stage=Stage.THRESHOLD, score=0.1, rank=9)),
        WhyNotOut.of(WhyNot(memory=MEMORY, returned=False, reason="out of reach")),
        StatsOut.of(Stats(1, {"active": 1}, 1, {"m": 1}, 0, 0, AT, AT, 4096)),
        DoctorOut.of([Finding("file", True, "sound"), Finding("cues", False, "2 without", "export")]),
        MemoryHealthOut(crew="sales", latest=HealthOut.of(SNAPSHOT), history=[]),
        MemoryHealthOut(crew=None, latest=None, history=None),
        FeedbackOut.of(ID, Strength(), Status.RETIRED),
        ImportedOut.of(Imported(rows=3, new=1, dry_run=True)),
        ExportedOut(path="a.jsonl", rows=3),
        ObservedOut.of([], [Problem(Path("a.jsonl"), 3, None, "bad")]),
        MemoriesOut.of([MEMORY]),
        AgeOut.of(timedelta(seconds=-90)),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_a_shape_comes_back_from_its_json(shape: Wire) -> None:
    comes_back(shape)


def test_a_snapshot_is_reported_with_its_bands_and_advice() -> None:
    told = json.loads(HealthOut.of(SNAPSHOT).model_dump_json())
    assert (told["crew"], told["day"], told["taken_at"]) == ("sales", "2026-03-04", "2026-03-04T09:00:00.123456Z")
    assert (told["score"], told["band"], told["weakest"]) == (50.0, "yellow", "reachability")
    assert {name: metric["band"] for name, metric in told["metrics"].items()} == {
        "freshness": "green",
        "coverage": "red",
        "coherence": None,
        "efficiency": None,
        "reachability": "red",
    }
    assert told["advice"].startswith("few memories have relations")


def test_a_snapshot_without_data_has_no_band() -> None:
    nothing = Metrics(freshness=None, coverage=None, coherence=None, efficiency=None, reachability=None)
    shape = HealthOut.of(HealthSnapshot(crew=None, day=AT.date(), taken_at=AT, metrics=nothing, score=None))
    assert (shape.score, shape.band, shape.weakest, shape.advice) == (None, None, None, "")


def test_a_doctor_with_a_finding_is_not_ok() -> None:
    assert DoctorOut.of([Finding("file", True, "sound")]).ok
    assert not DoctorOut.of([Finding("file", True, "sound"), Finding("cues", False, "2 without")]).ok

"""CrewAI's memory over ours, used by its own `Memory` and by a crew, on a real file with the local embedder."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import copy
import runpy
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.memory import Memory as CrewMemory
from crewai.memory.storage.backend import StorageBackend
from crewai.memory.storage.factory import set_memory_storage_factory
from crewai.memory.types import MemoryRecord
from pydantic import Field

from remembrancer import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.crewai import KNOWN_TEXTS, RemembrancerStorage, crew_memory

EXAMPLE = Path(__file__).parents[2] / "examples" / "crewai_memory.py"
START = datetime(2026, 3, 1, 9)  # noqa: DTZ001  CrewAI's times are in UTC without a zone
SEAT, DEPLOY, DIET = "Ana takes the aisle seat on trains", "The deploy failed for lack of memory", "Ana is vegetarian"
QUESTION = "Which seat does Ana take?"


class SilentModel(BaseLLM):
    """A model that answers every request with the same text, and keeps what it was asked."""

    asked: list[str] = Field(default_factory=list)

    def __init__(self) -> None:
        super().__init__(model="silent")

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        self.asked.append(str(messages))
        return "Final Answer: The aisle seat."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db")) as memory:
        yield memory


@pytest.fixture
def storage(memory: Remembrancer) -> RemembrancerStorage:
    return RemembrancerStorage(memory)


@pytest.fixture
def filled(storage: RemembrancerStorage) -> RemembrancerStorage:
    storage.save(RECORDS)
    return storage


def record(number: int, content: str, scope: str, *categories: str, **fields: Any) -> MemoryRecord:
    created = START + timedelta(days=number)
    return MemoryRecord(
        id=f"r{number}", content=content, scope=scope, categories=[*categories], created_at=created, **fields
    )


RECORDS = [
    record(1, SEAT, "/travel/ana", "seat", importance=0.9, metadata={"source": "mail", "count": 3}),
    record(2, DEPLOY, "/ops", "incident", private=True, source="bob"),
    record(3, DIET, "/travel", "food", "health", metadata={"nested": {"a": [1, None]}}),
]


def ids(found: Any) -> list[str]:
    return [(one[0] if isinstance(one, tuple) else one).id for one in found]


def search(storage: RemembrancerStorage, text: str, **arguments: Any) -> list[tuple[MemoryRecord, float]]:
    (vector,) = storage.embed([text])
    return storage.search(vector, **arguments)


def test_it_is_a_storage_backend(storage: RemembrancerStorage) -> None:
    assert isinstance(storage, StorageBackend)


def test_records_come_back_as_they_were_saved(filled: RemembrancerStorage) -> None:
    assert [filled.get_record(one.id) for one in RECORDS] == RECORDS
    assert filled.get_record("r9") is None


def test_a_search_gives_the_nearest_record_with_its_cosine(filled: RemembrancerStorage) -> None:
    question, text = filled.embed([QUESTION, SEAT])
    (best, score), *_ = filled.search(question)
    assert best == RECORDS[0]
    assert score == pytest.approx(sum(a * b for a, b in zip(question, text, strict=True)), abs=0.02)


def test_scores_fall_and_reach_the_least_score(filled: RemembrancerStorage) -> None:
    scores = [score for _, score in search(filled, QUESTION)]
    assert scores == sorted(scores, reverse=True)
    assert ids(search(filled, QUESTION, min_score=scores[0])) == ["r1"]
    assert ids(search(filled, QUESTION, limit=1)) == ["r1"]


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        ({"scope_prefix": "/travel"}, {"r1", "r3"}),
        ({"scope_prefix": "/travel/ana/"}, {"r1"}),
        ({"scope_prefix": "/trav"}, set[str]()),
        ({"scope_prefix": "/"}, {"r1", "r2", "r3"}),
        ({"categories": ["incident", "health"]}, {"r2", "r3"}),
        ({"metadata_filter": {"source": "mail", "count": 3}}, {"r1"}),
        ({"metadata_filter": {"nested": {"a": [1, None]}}}, {"r3"}),
        ({"metadata_filter": {"count": 4}}, set[str]()),
        ({"scope_prefix": "/travel", "categories": ["food", "incident"]}, {"r3"}),
    ],
)
def test_conditions_hold_for_searches_and_deletions(
    filled: RemembrancerStorage, conditions: dict[str, Any], found: set[str]
) -> None:
    assert set(ids(search(filled, "Ana seat deploy", **conditions))) == found
    assert filled.delete(**conditions) == len(found)
    assert set(ids(filled.list_records())) == {"r1", "r2", "r3"} - found


def test_deletions_by_id_and_age(filled: RemembrancerStorage) -> None:
    assert filled.delete(record_ids=["r1", "r1", "r9"]) == 1
    assert filled.delete(older_than=START + timedelta(days=3)) == 1
    assert ids(filled.list_records()) == ["r3"]


def test_a_deleted_record_can_be_restored(memory: Remembrancer, filled: RemembrancerStorage) -> None:
    stored = next(one for one in memory.memories(kinds=["crewai.record"]).memories if one.text == SEAT)
    filled.reset("/travel")
    memory.restore(stored.id)
    assert filled.get_record("r1") == RECORDS[0]


def test_scopes_categories_and_counts(filled: RemembrancerStorage) -> None:
    info = filled.get_scope_info("/travel/")
    assert (info.path, info.record_count, info.child_scopes) == ("/travel", 2, ["/travel/ana"])
    assert (info.categories, info.oldest_record) == (["food", "health", "seat"], RECORDS[0].created_at)
    assert (filled.list_scopes(), filled.list_scopes("/travel")) == (["/ops", "/travel"], ["/travel/ana"])
    assert filled.list_categories("/travel") == {"seat": 1, "food": 1, "health": 1}
    assert (filled.count(), filled.count("/travel"), filled.count("/none")) == (3, 2, 0)


def test_records_are_listed_newest_first_a_page_at_a_time(filled: RemembrancerStorage) -> None:
    assert ids(filled.list_records()) == ["r3", "r2", "r1"]
    assert ids(filled.list_records(limit=1, offset=1)) == ["r2"]
    assert ids(filled.list_records("/travel")) == ["r3", "r1"]


def test_an_update_replaces_the_record_and_keeps_its_revision(
    memory: Remembrancer, filled: RemembrancerStorage
) -> None:
    changed = RECORDS[0].model_copy(
        update={"content": "Ana takes the window seat", "scope": "/x", "categories": [], "metadata": {}}
    )
    filled.update(changed)
    assert filled.get_record("r1") == changed
    assert (filled.count(), filled.count("/travel/ana")) == (3, 0)
    assert ids(search(filled, "window seat", limit=1)) == ["r1"]
    assert memory.memories(kinds=["crewai.record"], query="window").memories[0].revision == 2


def test_a_vector_of_another_embedder_is_refused(filled: RemembrancerStorage) -> None:
    with pytest.raises(InvalidInput, match="query_embedding"):
        filled.search([0.1] * 384)
    with pytest.raises(InvalidInput, match=r"record\.embedding"):
        filled.save([record(4, "New", "/"), record(5, "Newer", "/", embedding=[0.1] * 1536)])
    assert filled.count() == 3


@pytest.mark.parametrize(
    "bad", [{"content": " "}, {"metadata": {"long": "x" * 70_000}}, {"categories": ["x"] * 2 + [""]}]
)
def test_a_batch_with_a_bad_record_stores_nothing(storage: RemembrancerStorage, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        storage.save([RECORDS[0], RECORDS[1].model_copy(update=bad)])
    assert storage.count() == 0


def test_only_the_newest_texts_are_known(filled: RemembrancerStorage) -> None:
    filled._texts.update({number.to_bytes(4): "filler" for number in range(KNOWN_TEXTS)})
    assert ids(search(filled, QUESTION, limit=1)) == ["r1"]
    assert len(filled._texts) == KNOWN_TEXTS


def test_a_memory_without_an_embedder_is_refused(tmp_path: Path) -> None:
    with Remembrancer.open(str(tmp_path / "words.db"), embedder="none") as memory, pytest.raises(InvalidInput):
        RemembrancerStorage(memory)


def test_the_asynchronous_methods_do_the_same(storage: RemembrancerStorage) -> None:
    async def used() -> tuple[list[str], int]:
        await storage.asave(RECORDS)
        (vector,) = storage.embed([QUESTION])
        found = await storage.asearch(vector, "/travel", ["seat"], {"source": "mail"}, 5, 0.1)
        return ids(found), await storage.adelete("/travel")

    assert asyncio.run(used()) == (["r1"], 2)


def test_recalled_records_count_as_retrieved(memory: Remembrancer, filled: RemembrancerStorage) -> None:
    crew = CrewMemory(storage=filled, embedder=filled.embed, llm=SilentModel())
    (found,) = crew.recall(QUESTION, limit=1, depth="shallow")
    assert found.record.content == SEAT
    counted = {one.text: one.strength.usage.retrieved for one in memory.recent(9)}
    assert counted == {SEAT: 1, DEPLOY: 0, DIET: 0}


def test_crewai_remembers_recalls_updates_and_forgets(memory: Remembrancer) -> None:
    crew = crew_memory(memory, llm=SilentModel(), consolidation_threshold=1.0)
    kept = crew.remember(SEAT, scope="/travel", categories=["seat"], importance=0.8, metadata={"from": "mail"})
    assert kept is not None
    crew.remember(DEPLOY, scope="/ops", categories=["incident"], importance=0.5, metadata={"from": "log"})
    assert crew.recall(QUESTION, depth="deep")[0].record.content == SEAT
    crew.update(kept.id, content="Ana takes the window seat")
    assert crew.recall(QUESTION, scope="/travel")[0].record.content == "Ana takes the window seat"
    assert crew.forget(record_ids=[kept.id]) == 1
    assert [one.record.content for one in crew.recall(QUESTION)] == [DEPLOY]


def test_a_private_record_is_shown_to_its_source_only(filled: RemembrancerStorage) -> None:
    crew = CrewMemory(storage=filled, embedder=filled.embed, llm=SilentModel())
    asked = {"query": "Why did the deploy fail?", "depth": "shallow", "scope": "/ops"}
    assert [len(crew.recall(**asked, source=source)) for source in ("bob", "ana", None)] == [1, 0, 0]


def test_recall_finds_what_a_crew_remembered(memory: Remembrancer, filled: RemembrancerStorage) -> None:
    assert memory.recall(QUESTION)[0].memory.text == SEAT


def test_a_factory_makes_it_the_storage_by_name(storage: RemembrancerStorage) -> None:
    set_memory_storage_factory(lambda name: storage if name == "remembrancer" else None)
    try:
        crew = CrewMemory(storage="remembrancer", embedder=storage.embed)
    finally:
        set_memory_storage_factory(None)
    assert crew._storage is storage


def test_copies_of_a_crew_use_the_same_storage(storage: RemembrancerStorage) -> None:
    assert copy.deepcopy({"storage": storage, "embedder": storage.embed}) == {
        "storage": storage,
        "embedder": storage.embed,
    }


def test_a_crew_is_given_what_an_earlier_crew_remembered(memory: Remembrancer, filled: RemembrancerStorage) -> None:
    model = SilentModel()
    agent = Agent(role="Travel agent", goal="Book seats", backstory="Books trains", llm=model)
    task = Task(description=QUESTION, expected_output="A seat", agent=agent)
    answer = Crew(agents=[agent], tasks=[task], memory=crew_memory(memory, llm=model)).kickoff()
    assert answer.raw == "The aisle seat."
    assert any(SEAT in asked for asked in model.asked)


def test_the_example_recalls_what_an_earlier_crew_remembered(tmp_path: Path) -> None:
    assert "aisle" in runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "example.db"))

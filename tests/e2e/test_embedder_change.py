"""A change of embedder: questions by meaning are answered at each step, by one model at a time."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from older_tables import undone

from remembrancer import AsyncRemembrancer, Conflict, InvalidInput, Remembrancer
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.domain.recall import Recall
from remembrancer.domain.vector_space import SpaceRole
from remembrancer.engine.index import index_batch
from remembrancer.errors import ModelUnavailable, NotFound
from remembrancer.ports.embedder import Embedded
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import HashEmbedder

Step = Callable[[AsyncRemembrancer], Awaitable[Any]]
SETTINGS = {"background_index": False, "workspace": "acme"}
TEXTS = [*(f"cats sleep on roof {each}" for each in range(3)), *(f"lions roar in valley {each}" for each in range(3))]


class Model(HashEmbedder):
    """An embedder for which "felines" means another word. Counts the texts that it embeds."""

    def __init__(self, dim: int, meaning: str) -> None:
        super().__init__(dim)
        self._meaning = meaning
        self.embedded = Counter[str]()
        self.asked = 0
        self.down = False

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        if self.down:
            raise ModelUnavailable(f"{self.model_id} is down")
        self.embedded.update(texts)
        return await super().embed_documents(texts)

    def query_now(self, text: str) -> NDArray[np.float32]:
        self.asked += 1
        return super().query_now(text.replace("felines", self._meaning))


class Change:
    """A database with memories whose vectors are of the old model, and both models."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.old, self.new = Model(128, "cats sleep on roof"), Model(256, "lions roar in valley")

    def run(self, *steps: Step, both: bool = True, **given: Any) -> Any:
        """The result of the last step, over the database opened with both models, or as given."""

        async def whole() -> Any:
            models = {"embedder": self.new, "embedder_before": self.old} if both else {}
            async with AsyncRemembrancer.open(self.url, **models, settings=SETTINGS, **given) as rem:
                return [await step(rem) for step in steps][-1]

        return asyncio.run(whole())

    def opened(self) -> Remembrancer:
        return Remembrancer.open(self.url, embedder=self.new, embedder_before=self.old, settings=SETTINGS)


async def remembered(rem: AsyncRemembrancer, texts: Sequence[str] = TEXTS) -> None:
    for text in texts:
        await rem.remember(text)
    await rem.jobs.index_now()


async def ask(rem: AsyncRemembrancer) -> Recall:
    return await rem.recall("felines", limit=3)


async def begin(rem: AsyncRemembrancer) -> None:
    await rem.embedder.change(wait=False)


async def half(rem: AsyncRemembrancer) -> None:
    """Embed half of the texts with the new model."""
    await index_batch(rem.context, rem.scope, batch=3)


async def change(rem: AsyncRemembrancer) -> None:
    await rem.embedder.change()


async def switch(rem: AsyncRemembrancer) -> None:
    await rem.embedder.switch()


async def roll_back(rem: AsyncRemembrancer) -> None:
    await rem.embedder.rollback()


async def drop(rem: AsyncRemembrancer) -> None:
    await rem.embedder.drop()


async def roles(rem: AsyncRemembrancer) -> dict[str, str]:
    return {space.model: space.role.value for space in (await rem.embedder.status()).spaces}


def found(answer: Recall) -> set[str]:
    """The first words of the hits, which tell by which model they were found."""
    return {hit.memory.text.split()[0] for hit in answer}


def begun(url: str) -> Change:
    change = Change(url)
    change.run(remembered, both=False, embedder=change.old)
    return change


@pytest.fixture
def changing(tmp_path: Path) -> Change:
    return begun(str(tmp_path / "m.db"))


@pytest.fixture(params=["sqlite", "postgres"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Change:
    """As `changing`, over each database."""
    taken = request.param == "postgres" and request.getfixturevalue("postgres").take()
    return begun(taken or str(tmp_path / "m.db"))


@pytest.mark.parametrize(
    ("steps", "animal"),
    [
        pytest.param([], "cats", id="before"),
        pytest.param([begin], "cats", id="at 0 %"),
        pytest.param([begin, half], "cats", id="at 50 %"),
        pytest.param([change], "cats", id="at 100 %"),
        pytest.param([change, switch], "lions", id="after the switch"),
        pytest.param([change, switch, roll_back], "cats", id="after the roll-back"),
        pytest.param([change, switch, roll_back, roll_back], "lions", id="after the roll-back is undone"),
        pytest.param([change, switch, drop], "lions", id="after the drop"),
    ],
)
def test_a_question_is_answered_by_meaning(anywhere: Change, steps: Sequence[Step], animal: str) -> None:
    answer = anywhere.run(*steps, ask)
    assert (found(answer), answer.degraded) == ({animal}, {})


def test_a_text_is_embedded_once_for_each_model(changing: Change) -> None:
    changing.run(begin, half)
    changing.run(change, switch, roll_back, change)
    assert changing.new.embedded == changing.old.embedded == Counter(TEXTS)


def test_new_texts_are_embedded_for_both_models_until_one_is_dropped(anywhere: Change) -> None:
    async def more(rem: AsyncRemembrancer) -> None:
        await remembered(rem, [f"dogs {len(anywhere.old.embedded)}"])

    anywhere.run(begin, more, change, switch, more, drop, more)
    assert (len(anywhere.old.embedded), len(anywhere.new.embedded)) == (8, 9)


def test_every_answer_during_switches_is_wholly_of_one_model(anywhere: Change) -> None:
    anywhere.run(change)
    over = threading.Event()
    with anywhere.opened() as rem, ThreadPoolExecutor(4) as threads:

        def asking() -> set[tuple[Any, ...]]:
            told: set[tuple[Any, ...]] = set()
            while not over.is_set():
                answer = rem.recall("felines", limit=3)
                told.add((tuple((hit.id, hit.score) for hit in answer), *answer.degraded.items()))
            return told

        expected = {tuple((hit.id, hit.score) for hit in rem.recall("felines", limit=3))}
        try:
            several = [threads.submit(asking) for _ in range(4)]
            rem.embedder.switch()
            expected.add(tuple((hit.id, hit.score) for hit in rem.recall("felines", limit=3)))
            for _ in range(20):
                rem.embedder.rollback()
        finally:
            over.set()
        told = set[tuple[Any, ...]]().union(*(each.result() for each in several))
    ids = {tuple(identifier for identifier, _ in answer) for answer in expected}
    assert len(ids) == 2
    assert {tuple(identifier for identifier, _ in answer) for (answer,) in told} <= ids


def test_another_process_answers_by_the_new_model_from_its_next_question_on(changing: Change) -> None:
    with changing.opened() as here, changing.opened() as there:
        here.embedder.change()
        before = found(there.recall("felines", limit=3))
        here.embedder.switch()
        assert (before, found(there.recall("felines", limit=3))) == ({"cats"}, {"lions"})


def test_texts_written_just_before_a_switch_are_embedded_by_it(changing: Change) -> None:
    async def late(rem: AsyncRemembrancer) -> None:
        await rem.remember("cats that came late")
        await index_batch(rem.context, rem.scope)  # embeds for the model that answers

    changing.run(change, late, switch)
    assert changing.new.embedded["cats that came late"] == 1


@pytest.mark.parametrize(
    ("steps", "refused"),
    [
        pytest.param([switch], "no change of embedder is under way", id="a switch without a change"),
        pytest.param([roll_back], "no vectors from before a switch are kept", id="a roll-back without a switch"),
        pytest.param([drop], "no vectors from before a switch are kept", id="a drop without a switch"),
        pytest.param([change, switch, change], "answer already", id="a change to the model that answers"),
    ],
)
def test_a_step_out_of_order_is_refused(changing: Change, steps: Sequence[Step], refused: str) -> None:
    with pytest.raises(Conflict, match=refused):
        changing.run(*steps)


def test_a_switch_before_all_is_embedded_is_refused_unless_that_is_allowed(changing: Change) -> None:
    changing.run(begin)

    async def allowed(rem: AsyncRemembrancer) -> int:
        return (await rem.embedder.switch(allow_missing=True)).missing

    with pytest.raises(Conflict, match="6 texts have no vector of hash-256 yet"):
        changing.run(switch, both=False, embedder="none")
    assert changing.run(allowed) == 6


def test_two_changes_at_once_are_refused(changing: Change) -> None:
    changing.run(begin)
    with pytest.raises(Conflict, match="a change of embedder to hash-256 is under way"):
        changing.run(change, both=False, embedder=Model(64, "dogs"))


def test_a_third_embedder_embeds_nothing_during_a_change(changing: Change) -> None:
    third = Model(64, "dogs")
    changing.run(begin)
    report = changing.run(lambda rem: rem.jobs.index_now(), both=False, embedder=third)
    assert (report.indexed, third.embedded) == (0, Counter())
    assert "a change of embedder to hash-256 is under way" in report.reason


def test_a_change_is_given_up_by_dropping_its_vectors(changing: Change) -> None:
    async def give_up(rem: AsyncRemembrancer) -> None:
        await rem.embedder.drop("hash-256")
        await rem.jobs.index_now()

    changing.run(begin, half, give_up)
    assert changing.run(roles) == {"hash-128": "answers", "hash-256": "dropped"}
    assert changing.new.embedded.total() == 3


def test_vectors_that_answer_are_not_dropped(changing: Change) -> None:
    with pytest.raises(Conflict, match="hash-128 answer"):
        changing.run(lambda rem: rem.embedder.drop("hash-128"))
    with pytest.raises(NotFound):
        changing.run(lambda rem: rem.embedder.drop("unknown"))


def test_without_the_old_embedder_a_recall_says_how_to_answer_by_meaning(changing: Change) -> None:
    answer = changing.run(ask, both=False, embedder=changing.new)
    assert "6 of 6 memories have no vector yet of hash-256; those of hash-128 can answer" in answer.degraded["dense"]
    assert "`embedder_before`" in answer.degraded["dense"]


def test_the_doctor_names_the_commands_of_a_change(changing: Change) -> None:
    async def advice(rem: AsyncRemembrancer) -> str:
        [finding] = [one for one in await rem.health.doctor() if one.check == "change of embedder"]
        return str(finding.repair)

    assert "remembrancer embedder change" in changing.run(advice, both=False, embedder=changing.new)
    assert "`remembrancer embedder change` at once" in changing.run(begin, advice)
    assert "run `remembrancer embedder switch`" in changing.run(change, advice)


def test_while_the_old_embedder_is_down_the_new_vectors_are_made(changing: Change) -> None:
    async def all_of(rem: AsyncRemembrancer) -> Any:
        await rem.remember("dogs")
        return await rem.jobs.index_now()

    changing.old.down = True
    report = changing.run(begin, all_of)
    assert (report.indexed, report.down, report.reason) == (7, True, "hash-128 is down")


def test_a_change_makes_no_relations_anew(changing: Change) -> None:
    async def similar(rem: AsyncRemembrancer) -> int:
        return (await rem.health.stats()).relations

    url = changing.url
    links = PRESETS["crewship"]
    assert links.links is not None
    changing.run(change, both=True, preset=links)
    assert changing.run(similar) == 0, url


def test_an_erased_memory_is_in_neither_space(changing: Change) -> None:
    async def vectors(rem: AsyncRemembrancer) -> Any:
        [first, *_] = await rem.recent()
        await rem.erase(ids=[first.id])
        return dict((await rem.health.stats()).vectors)

    assert changing.run(change, vectors) == {"hash-128": 5, "hash-256": 5}


def test_the_progress_of_a_change_is_told(changing: Change) -> None:
    status = changing.run(begin, half, lambda rem: rem.embedder.status())
    assert status.building is not None
    assert (status.answers, status.building.vectors, status.building.cues) == ("hash-128", 3, 6)
    assert status.building.role is SpaceRole.BUILDING


def test_during_a_rest_only_new_texts_are_embedded(changing: Change) -> None:
    async def resting(rem: AsyncRemembrancer) -> tuple[int, int]:
        first = await index_batch(rem.context, rem.scope, first_only=True)
        await rem.remember("dogs")
        return first.indexed, (await index_batch(rem.context, rem.scope, first_only=True)).indexed

    assert changing.run(begin, resting) == (0, 1)


def test_a_batch_of_a_change_may_be_smaller_than_one_of_new_texts(changing: Change) -> None:
    async def batches(rem: AsyncRemembrancer) -> list[int]:
        await rem.remember("dogs")
        await rem.remember("wolves")
        return [(await index_batch(rem.context, rem.scope, behind=1)).indexed for _ in range(2)]

    assert changing.run(begin, batches) == [2, 1]


def test_the_embedder_from_before_has_another_model() -> None:
    with pytest.raises(InvalidInput, match="embedder_before"):
        Remembrancer.open(":memory:", embedder=HashEmbedder(), embedder_before=HashEmbedder())
    with pytest.raises(InvalidInput, match="embedder_before"):
        Remembrancer.open(":memory:", embedder="none", embedder_before=HashEmbedder())


def test_after_an_update_the_model_with_the_most_vectors_answers(anywhere: Change) -> None:
    anywhere.run(begin, half)
    if "://" in anywhere.url:
        with psycopg.connect(anywhere.url) as connection:
            connection.execute((undone(21) + "UPDATE remembrancer SET version = 21").encode())
    else:
        connect(anywhere.url).execute(undone(21) + "PRAGMA user_version = 21")
    assert anywhere.run(roles) == {"hash-128": "answers", "hash-256": "kept"}

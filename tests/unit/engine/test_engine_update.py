from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from contexts import a_context

from remembrancer import Conflict, InvalidInput, Memory, NotFound, Remembrancer, Settings
from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.memory import MemoryWrite
from remembrancer.domain.scope import Scope
from remembrancer.engine.record import ATTEMPTS, update
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.engram import ENGRAM
from remembrancer.testing.doubles import READER, SCOPE, FixedClock, HashEmbedder, a_memory, indexed

ID = UUID(int=1)
SOON = datetime(2030, 1, 1, tzinfo=UTC)
SETTINGS = Settings(db=":memory:", workspace="acme", background_index=False)


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    with Remembrancer.open(embedder=HashEmbedder(), settings=SETTINGS, clock=FixedClock()) as opened:
        yield opened


def cues(rem: Remembrancer, memory: Memory) -> list[str]:
    return [cue.text for cue in rem.show(memory.id).cues]


def test_given_fields_change_and_the_rest_stays(rem: Remembrancer) -> None:
    kept = rem.remember("two", title="Size", kind="decision", tags=["a"], metadata={"n": 1}, source="runbook")
    changed = rem.update(kept.id, text="three", importance=0.75)
    assert (changed.text, changed.title, changed.kind, changed.tags, changed.metadata, changed.source) == (
        *("three", "Size", "decision", ("a",), {"n": 1}, "runbook"),
    )
    assert changed.strength.importance == 0.75
    assert changed.revision == 2


def test_its_earlier_text_is_kept_as_a_revision(rem: Remembrancer) -> None:
    kept = rem.remember("two")
    rem.update(kept.id, text="three")
    assert [revision.text for revision in rem.show(kept.id).revisions] == ["two"]


def test_it_is_found_by_its_new_words_and_no_more_by_its_old_ones(rem: Remembrancer) -> None:
    kept = rem.remember("rabbit")
    rem.update(kept.id, text="kafka")
    found = [[hit.id for hit in rem.recall(asked)] for asked in ("kafka", "rabbit")]
    assert found == [[kept.id], []]


def test_none_takes_away(rem: Remembrancer) -> None:
    kept = rem.remember("two", title="Size", valid_until=SOON, source="runbook")
    changed = rem.update(kept.id, title=None, valid_until=None, source=None)
    assert (changed.title, changed.valid_until, changed.source) == (None, None, None)


def test_an_update_without_a_change_makes_no_revision(rem: Remembrancer) -> None:
    kept = rem.remember("two", tags=["a"])
    assert rem.update(kept.id, text="two", tags=["a"]) == kept


def test_an_episode_is_still_found_by_its_turns(rem: Remembrancer) -> None:
    turns = [rem.observe(text).id for text in ("it broke", "we mended it")]
    episode = rem.remember("about checkout", events=turns)
    rem.update(episode.id, text="about the checkout")
    assert cues(rem, episode) == ["about the checkout", "it broke", "we mended it"]
    assert [event.id for event in rem.show(episode.id).events] == turns


def test_an_updated_memory_of_a_turn_is_found_by_its_new_text_only(rem: Remembrancer) -> None:
    rem.observe("the deploy faild")
    (turn,) = rem.recent()
    rem.update(turn.id, text="the deploy failed")
    assert cues(rem, turn) == ["the deploy failed"]


def test_its_cues_stay_where_its_words_do(rem: Remembrancer) -> None:
    rem.observe("the deploy failed")
    (turn,) = rem.recent()
    before = rem.show(turn.id).cues
    rem.update(turn.id, tags=["checkout"])
    assert rem.show(turn.id).cues == before


def test_the_journal_is_unchanged(rem: Remembrancer) -> None:
    event = rem.observe("the deploy faild")
    (turn,) = rem.recent()
    rem.update(turn.id, text="the deploy failed")
    assert rem.journal.get(event.id) == event


def test_an_update_based_on_an_older_revision_is_a_conflict(rem: Remembrancer) -> None:
    kept = rem.remember("two")
    rem.update(kept.id, text="three", expected_revision=1)
    with pytest.raises(Conflict, match="is at revision 2, not 1"):
        rem.update(kept.id, text="four", expected_revision=1)
    assert rem.get(kept.id).text == "three"


def test_a_superseded_memory_cannot_be_updated(rem: Remembrancer) -> None:
    old, new = rem.remember("rabbit"), rem.remember("kafka")
    rem.supersede(old.id, new.id)
    with pytest.raises(Conflict, match=str(new.id)):
        rem.update(old.id, text="both")


def test_a_retired_memory_stays_retired(rem: Remembrancer) -> None:
    kept = rem.remember("two")
    rem.forget(kept.id)
    assert rem.update(kept.id, text="three").status.value == "retired"


def test_a_memory_that_the_caller_cannot_see_is_not_found(rem: Remembrancer) -> None:
    theirs = rem.scoped(agent="bob").remember("a secret", visibility="own")
    with pytest.raises(NotFound):
        rem.scoped(agent="ana").update(theirs.id, text="no secret")


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({}, "changes"),
        ({"text": " "}, "text"),
        ({"kind": "No Slug"}, "kind"),
        ({"importance": 1.5}, "importance"),
        ({"priority": 0}, "priority"),
        ({"tags": "checkout"}, "tags"),
        ({"metadata": [1]}, "metadata"),
        ({"visibility": "nobody"}, "visibility"),
        ({"text": "three", "expected_revision": 0}, "expected_revision"),
    ],
)
def test_invalid_values_are_refused_by_argument(rem: Remembrancer, changes: dict[str, Any], argument: str) -> None:
    kept = rem.remember("two")
    with pytest.raises(InvalidInput) as refused:
        rem.update(kept.id, **changes)
    assert refused.value.argument == argument
    assert rem.get(kept.id) == kept


def test_fields_that_a_memory_does_not_have_cannot_change(rem: Remembrancer) -> None:
    with pytest.raises(TypeError, match="'colour'"):
        rem.update(rem.remember("two").id, colour="red")  # pyright: ignore[reportCallIssue]


def test_a_kind_that_the_preset_does_not_have_is_refused() -> None:
    with Remembrancer.open(embedder="none", settings=SETTINGS, preset=ENGRAM) as rem:
        kept = rem.remember("two")
        with pytest.raises(InvalidInput, match="kind"):
            rem.update(kept.id, kind="no-such-kind")


class Contested(ReferenceStore):
    """A store in which another writer is faster a given number of times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def revise(self, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
        if self.times > 0:
            self.times -= 1
            other = indexed(a_memory(f"theirs {self.times}", memory_id=ID))
            await super().revise(scope, other, expected_revision=expected_revision, at=at)
        return await super().revise(scope, write, expected_revision=expected_revision, at=at)


def contested(times: int, expected_revision: int | None = None) -> Memory:
    async def steps() -> Memory:
        store = Contested(times)
        await store.insert(SCOPE, indexed(a_memory("two", memory_id=ID)))
        ctx = a_context(store, DEFAULT)
        return await update(ctx, READER, ID, {"tags": ["mine"]}, expected_revision=expected_revision)

    return asyncio.run(steps())


def test_concurrent_updates_by_others_are_not_lost() -> None:
    changed = contested(2)
    assert (changed.text, changed.tags, changed.revision) == ("theirs 0", ("mine",), 4)


def test_an_update_of_a_named_revision_is_not_retried() -> None:
    with pytest.raises(Conflict):
        contested(1, expected_revision=1)


def test_others_who_never_stop_are_a_conflict() -> None:
    with pytest.raises(Conflict):
        contested(ATTEMPTS)

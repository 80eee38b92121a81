"""Texts of any length: recorded verbatim, and found by their passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from remembrancer import Remembrancer
from remembrancer.domain.event import Event
from remembrancer.domain.validation import MAX_TEXT_BYTES
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.passages import PASSAGE_CHARS, WHOLE_CHARS
from remembrancer.testing.doubles import HashEmbedder

NEEDLE = "The spare key of the lighthouse hangs behind the barometer."
QUESTION = "where does the spare key of the lighthouse hang?"

Opener = Callable[..., Remembrancer]


def long_text(chars: int, said: str = NEEDLE) -> str:
    """Lines of a log with about so many characters; `said` is one of the last."""
    lines = [
        f"{number:06d} worker {number % 7} took batch {number * 31 % 1009}, löst aus" for number in range(chars // 40)
    ]
    lines.insert(len(lines) * 9 // 10, said)
    return "\n".join(lines)


TEXT = long_text(100_000)


@pytest.fixture
def opened() -> Iterator[Opener]:
    with ExitStack() as stack:

        def open_(db: str = ":memory:", **settings: Any) -> Remembrancer:
            given = {"background_index": False, **settings}
            return stack.enter_context(Remembrancer.open(db, embedder=HashEmbedder(), settings=given))

        yield open_


@pytest.fixture
def rem(opened: Opener) -> Remembrancer:
    return opened()


@pytest.fixture
def event(rem: Remembrancer) -> Event:
    return rem.observe(TEXT, role="tool", actor="cat")


def test_a_long_text_is_recorded_verbatim(rem: Remembrancer, event: Event) -> None:
    assert len(TEXT.encode()) > MAX_TEXT_BYTES
    assert rem.journal.get(event.id).text == event.text == TEXT


def test_a_sentence_far_inside_a_long_text_is_found_and_the_hit_names_its_passage(
    rem: Remembrancer, event: Event
) -> None:
    hit = rem.recall(QUESTION)[0]
    assert NEEDLE in hit.cue.text
    assert (hit.cue.event_id, TEXT[hit.cue.start : hit.cue.end]) == (event.id, hit.cue.text)


def test_each_passage_gets_a_vector(rem: Remembrancer, event: Event) -> None:
    assert rem.jobs.index_now().indexed == len(rem.show(rem.recent()[0].id).cues) > 50
    assert rem.recall(QUESTION)[0].explanation.signals["similarity"] is not None


def test_passages_reach_from_the_beginning_of_a_text_to_its_end_without_a_gap(rem: Remembrancer, event: Event) -> None:
    cues = rem.show(rem.recent()[0].id).cues
    assert [cue.ordinal for cue in cues] == list(range(len(cues)))
    assert (cues[0].start, cues[-1].end) == (0, len(TEXT))
    for cue in cues:
        assert TEXT[cue.start : cue.end] == cue.text
        assert len(cue.text) <= PASSAGE_CHARS
    for one, following in pairwise(cues):
        assert not TEXT[one.end : following.start].strip()


def test_the_memory_of_a_long_text_has_its_beginning(rem: Remembrancer, event: Event) -> None:
    [memory] = rem.recent()
    assert TEXT.startswith(memory.text)
    assert MAX_TEXT_BYTES - 4 < len(memory.text.encode()) <= MAX_TEXT_BYTES


def test_a_turn_of_usual_length_is_one_cue_and_no_passage(rem: Remembrancer) -> None:
    rem.observe("a" * WHOLE_CHARS)
    [cue] = rem.show(rem.recent()[0].id).cues
    assert (cue.text, cue.start, cue.end) == ("a" * WHOLE_CHARS, None, None)


@pytest.mark.parametrize("detail", ["auto", "high"])
def test_a_block_for_a_prompt_has_the_passage_and_not_the_whole_text(
    rem: Remembrancer, event: Event, detail: str
) -> None:
    block = rem.recall(QUESTION).render(max_chars=4000, detail=detail)
    assert (NEEDLE in block, block.count("worker") < 60) == (True, True)


def test_a_long_turn_is_one_turn_of_its_transcript(rem: Remembrancer, event: Event) -> None:
    hit = rem.recall(QUESTION)[0]
    assert hit.turns == (hit.cue,)


def test_two_long_texts_with_the_same_beginning_are_two_answers(rem: Remembrancer) -> None:
    for place in ("barometer", "compass"):
        rem.observe(long_text(80_000, NEEDLE.replace("barometer", place)))
    found = [hit.cue.text for hit in rem.recall(QUESTION) if "spare key" in hit.cue.text]
    assert len(found) == 2


def test_a_text_above_the_bound_is_refused_and_nothing_is_recorded(opened: Opener) -> None:
    rem = opened(max_event_mb=1)
    with pytest.raises(InvalidInput, match="at most 1,048,576 bytes"):
        rem.observe_many([{"text": "short"}, {"text": "ü" * 600_000}])
    assert rem.journal.count() == 0
    assert rem.observe("x" * 1_048_576).text == "x" * 1_048_576


def test_an_episode_with_a_long_turn_is_found_by_its_passage(rem: Remembrancer, event: Event) -> None:
    asked = rem.observe("What does the log say?")
    episode = rem.remember("They read a log.", kind="episode", events=[event.id, asked.id])
    [hit] = [hit for hit in rem.recall(QUESTION, kinds=["episode"]) if hit.id == episode.id]
    assert TEXT[hit.cue.start : hit.cue.end] == hit.cue.text
    assert [turn.event_id for turn in hit.turns] == [event.id, asked.id]
    assert NEEDLE in hit.turns[0].text


def test_an_edited_memory_is_no_longer_found_by_the_passages_it_had(rem: Remembrancer, event: Event) -> None:
    [memory] = rem.recent()
    rem.update(memory.id, text="A log of the workers.")
    assert [cue.text for cue in rem.show(memory.id).cues] == ["A log of the workers."]


def test_a_memory_that_gets_a_title_keeps_its_passages(rem: Remembrancer, event: Event) -> None:
    [memory] = rem.recent()
    before = len(rem.show(memory.id).cues)
    rem.update(memory.id, title="The workers")
    assert len(rem.show(memory.id).cues) == before + 1


def test_an_erased_text_is_gone_with_all_its_passages(rem: Remembrancer, event: Event) -> None:
    rem.erase(events=[event.id])
    assert rem.health.stats().cues == 0
    assert rem.recall(QUESTION).hits == ()


def test_a_long_text_is_exported_and_imported(rem: Remembrancer, event: Event, opened: Opener, tmp_path: Path) -> None:
    rem.export(tmp_path / "rows.jsonl")
    copy = opened(str(tmp_path / "copy.db"))
    copy.import_(tmp_path / "rows.jsonl", dry_run=False)
    assert copy.journal.get(event.id).text == TEXT
    assert copy.recall(QUESTION)[0].cue == rem.recall(QUESTION)[0].cue

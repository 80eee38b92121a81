"""Names learned from memories: whom a question with such a name is read to be about, and what ends that."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer import Remembrancer, Settings
from remembrancer.adapters.reference.store import ReferenceStore
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.domain.names import ALIAS, NamedSpeaker, NameMatch
from remembrancer.testing.doubles import FixedClock

ASKED = "What did Moss plant on the balcony?"
TAUGHT = "Everyone calls me Moss."
BEANS, ROSES = "I planted beans on the balcony.", "I planted roses on the balcony."


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def rem(clock: FixedClock) -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings, clock=clock) as rem:
        said(rem, "Ben", ROSES)
        said(rem, "Katharina", BEANS)
        yield rem


def said(rem: Remembrancer, actor: str | None, text: str, role: str = "user") -> None:
    rem.observe(text, role=role, actor=actor)


def read_as(rem: Remembrancer, question: str = ASKED, **given: object) -> list[tuple[str, str]]:
    """The names of the question that were learned, and whose they are."""
    names = rem.recall(question, **given).trace.names  # type: ignore[arg-type]
    return [(one.name, one.speaker) for one in names if one.match is NameMatch.LEARNED]


def test_a_question_with_a_learned_name_is_read_as_one_about_the_speaker(rem: Remembrancer) -> None:
    before = rem.recall(ASKED)
    said(rem, "Katharina", TAUGHT)
    after = rem.recall(ASKED)
    assert (before.trace.names, before.trace.embedded) == ((), ASKED)
    assert after.trace.embedded == "What did I plant on the balcony?"
    assert after[0].memory.text == BEANS
    assert [hit.explanation.signals["speaker"] for hit in after if hit.memory.text in (BEANS, ROSES)] == [1.0, 0.0]


def test_the_answer_says_which_name_was_matched_how_and_which_memory_says_it(rem: Remembrancer) -> None:
    said(rem, "Katharina", TAUGHT)
    [taught] = [memory.id for memory in rem.recent() if memory.text == TAUGHT]
    assert rem.recall("Did Moss, Katarina or Ben plant roses?").trace.names == (
        NamedSpeaker("Moss", "Katharina", NameMatch.LEARNED, taught),
        NamedSpeaker("Katarina", "Katharina", NameMatch.FORM),
        NamedSpeaker("Ben", "Ben", NameMatch.SPELLED),
    )


def test_a_turn_of_a_user_or_an_assistant_that_says_a_name_has_the_tag(rem: Remembrancer) -> None:
    said(rem, "Katharina", TAUGHT)
    said(rem, None, "Noted: Katharina goes by Moss.", role="assistant")
    said(rem, None, "Katharina goes by Bug.", role="tool")
    assert {memory.role for memory in rem.recent() if ALIAS in memory.tags} == {"user", "assistant"}
    assert (read_as(rem), read_as(rem, "What did Bug plant?")) == ([("Moss", "Katharina")], [])


def test_a_user_without_a_name_is_named_by_the_role(rem: Remembrancer) -> None:
    said(rem, None, TAUGHT)
    found = rem.recall(ASKED)
    assert [(one.name, one.speaker) for one in found.trace.names] == [("Moss", "user")]
    assert found.trace.embedded == "What did I plant on the balcony?"


def test_a_name_that_is_a_speakers_own_is_nobody_elses(rem: Remembrancer) -> None:
    said(rem, "Katharina", "Everyone calls me Ben.")
    assert rem.recall("What did Ben plant?").trace.names == (NamedSpeaker("Ben", "Ben", NameMatch.SPELLED),)


def test_a_name_of_two_speakers_is_nobodys(rem: Remembrancer) -> None:
    said(rem, "Katharina", TAUGHT)
    said(rem, "Ben", TAUGHT)
    assert rem.recall(ASKED).trace.names == ()


def test_a_learned_name_precedes_a_short_form_of_another_speakers(rem: Remembrancer) -> None:
    said(rem, "Robert", "I planted figs.")
    said(rem, "Katharina", "My friends call me Bob.")
    assert read_as(rem, "What did Bob plant?") == [("Bob", "Katharina")]


def test_a_name_that_is_ended_is_no_name(rem: Remembrancer, clock: FixedClock) -> None:
    said(rem, "Katharina", TAUGHT)
    then = clock()
    clock.advance(timedelta(days=1))
    said(rem, "Katharina", "Please don't call me Moss any more.")
    assert (read_as(rem), read_as(rem, as_of=then)) == ([], [("Moss", "Katharina")])


def test_a_question_about_the_past_knows_a_name_that_no_memory_has_any_more(
    rem: Remembrancer, clock: FixedClock
) -> None:
    said(rem, "Katharina", TAUGHT)
    [taught] = [memory.id for memory in rem.recent() if memory.text == TAUGHT]
    then = clock()
    clock.advance(timedelta(days=1))
    rem.update(taught, tags=[], text="I moved.")
    assert (read_as(rem), read_as(rem, as_of=then)) == ([], [("Moss", "Katharina")])


def test_a_name_that_another_process_recorded_is_known_to_the_next_question(tmp_path: Path) -> None:
    settings = Settings(db=str(tmp_path / "memory.db"), embedder="none", background_index=False)
    with Remembrancer.open(settings=settings) as rem, Remembrancer.open(settings=settings) as other:
        said(rem, "Katharina", BEANS)
        before = read_as(rem)
        said(other, "Katharina", TAUGHT)
        assert (before, read_as(rem)) == ([], [("Moss", "Katharina")])


@pytest.mark.parametrize("end", ["erase", "forget", "supersede", "untag", "edit"])
def test_a_name_ends_with_the_memory_that_says_it(rem: Remembrancer, end: str) -> None:
    said(rem, "Katharina", TAUGHT)
    [taught] = [memory.id for memory in rem.recent() if memory.text == TAUGHT]
    before = read_as(rem)
    match end:
        case "erase":
            rem.erase(ids=[taught])
        case "forget":
            rem.forget(taught)
        case "supersede":
            rem.supersede(taught, rem.remember("Katharina moved.").id)
        case "untag":
            rem.update(taught, tags=[])
        case _:
            rem.update(taught, text="Everyone calls me.")
    assert (before, read_as(rem)) == ([("Moss", "Katharina")], [])


@pytest.mark.parametrize(
    ("asked", "given"), [({"project": "mobile"}, {}), ({"agent": "ben"}, {"visibility": "own"})], ids=["scope", "own"]
)
def test_a_name_that_the_reader_may_not_see_changes_nothing(
    rem: Remembrancer, asked: dict[str, str], given: dict[str, str]
) -> None:
    writer = rem.scoped(project="web", agent="ana")
    writer.remember("Moss is Katharina.", tags=[ALIAS], **given)  # type: ignore[arg-type]
    assert (read_as(writer), read_as(rem.scoped(**asked))) == ([("Moss", "Katharina")], [])


def test_a_note_with_the_tag_gives_names(rem: Remembrancer) -> None:
    note = rem.remember("Katharina: Moss, Bug", tags=[ALIAS])
    assert (read_as(rem), read_as(rem, "What did Bug plant?")) == ([("Moss", "Katharina")], [("Bug", "Katharina")])
    rem.update(note.id, text="Katharina: Bug")
    assert read_as(rem) == []


@pytest.mark.parametrize("origin", ["tool", "web", "import"])
def test_an_untrusted_origin_names_nobody(rem: Remembrancer, origin: str) -> None:
    rem.remember("Katharina: Moss", tags=[ALIAS], origin=origin)
    assert read_as(rem) == []


def test_a_question_about_one_session_uses_a_name_said_in_another(rem: Remembrancer) -> None:
    said(rem.scoped(session="monday"), "Katharina", TAUGHT)
    said(rem.scoped(session="tuesday"), "Katharina", "I planted figs.")
    assert read_as(rem, session="tuesday") == [("Moss", "Katharina")]


def test_the_turns_of_an_episode_teach_names(rem: Remembrancer) -> None:
    told = [rem.observe(text, role="user", actor="Katharina", type="network.chat") for text in (TAUGHT, "Hello.")]
    episode = rem.remember("Katharina introduced herself.", events=[one.id for one in told])
    assert episode.tags == (ALIAS,)
    assert read_as(rem) == [("Moss", "Katharina")]


@pytest.mark.parametrize("backend", ["reference", "postgres"])
def test_other_stores_know_the_same_names(backend: str, request: pytest.FixtureRequest) -> None:
    store = ReferenceStore() if backend == "reference" else None
    db = ":memory:" if store is not None else request.getfixturevalue("postgres").take()
    with Remembrancer.open(settings=Settings(db=db, embedder="none", background_index=False), store=store) as rem:
        said(rem, "Katharina", BEANS)
        said(rem, "Katharina", TAUGHT)
        taught = read_as(rem)
        said(rem, "Katharina", "Don't call me Moss.")
        assert (taught, read_as(rem)) == ([("Moss", "Katharina")], [])


def test_a_name_is_the_same_after_the_index_is_rebuilt(tmp_path: Path) -> None:
    settings = Settings(db=str(tmp_path / "memory.db"), embedder="none", background_index=False)
    with Remembrancer.open(settings=settings) as rem:
        said(rem, "Katharina", BEANS)
        said(rem, "Katharina", TAUGHT)
        before = read_as(rem)
    with Remembrancer.open(settings=settings) as rem:
        assert (before, read_as(rem)) == ([("Moss", "Katharina")], [("Moss", "Katharina")])


def test_asking_reads_no_names_if_every_word_is_known(rem: Remembrancer, monkeypatch: pytest.MonkeyPatch) -> None:
    said(rem, "Katharina", TAUGHT)
    monkeypatch.delattr(RelationalView, "memories")
    assert rem.recall("What did Katharina do?").trace.names[0].speaker == "Katharina"

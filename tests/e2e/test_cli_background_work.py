"""The commands that run background work by hand: their effects, their output, and their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from driver import Cli
from llm_server import LlmServer, fails

from remembrancer import ModelUnavailable, Remembrancer
from remembrancer.testing.doubles import FixedClock
from remembrancer.testing.scripted_model import ScriptedModel

ALIKE = (
    "The staging database runs on PostgreSQL",
    "PostgreSQL is the database of staging",
    "Staging uses a PostgreSQL database",
)
LESSON = "Run the migrations before the deploy, never after it"
DESIGN = "# Intent\n\nDesign: the architecture, the data model, the interfaces and their trade-offs.\n"
REVIEW = "# Intent\n\nReview: feedback, findings, sign-off and approval.\n"
NO_MODEL = "no language model is set (llm)"

Open = Callable[..., Remembrancer]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def opened(folder: Path, clock: FixedClock) -> Iterator[Open]:
    """The file that the commands read later, opened with a clock of March 2026."""
    memories: list[Remembrancer] = []

    def open_it(preset: str, **given: Any) -> Remembrancer:
        memory = Remembrancer.open(
            str(folder / "remembrancer.db"),
            preset=preset,
            embedder="none",
            clock=clock,
            settings={"background_index": False},
            **given,
        )
        memories.append(memory)
        return memory

    yield open_it
    for memory in memories:
        memory.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    """A provider that the environment names; without a word it says that nothing came of it."""
    with LlmServer(api_key="s3cret") as running:
        monkeypatch.setenv("REMEMBRANCER_LLM_URL", running.url("openai"))
        monkeypatch.setenv("REMEMBRANCER_LLM_KEY", "s3cret")
        yield running


def talk(cli: Cli, *arguments: str, turns: int = 6) -> None:
    lines = [f'{{"text": "The worker of the checkout needs more memory, part {n}"}}' for n in range(turns)]
    cli.done("observe", "--stdin", *arguments, stdin="\n".join(lines).encode())


def said(text: str) -> str:
    """The text on one line, without the terminal's line breaks."""
    return " ".join(text.split())


# ── end-session ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_end_of_a_session_is_reported_part_by_part(cli: Cli) -> None:
    talk(cli, "--session", "monday")
    lines = cli.done("end-session", "monday").out.splitlines()
    assert lines == [
        "session monday is over",
        "episodes: formed 1 episode of 6 turns",
        "learned: preset default does not extract learnings",
        "use: preset default counts each exposure when it is logged",
        "reviews: preset default does not review memories",
    ]


def test_a_session_ends_once(cli: Cli) -> None:
    talk(cli, "--session", "monday")
    cli.done("end-session", "monday")
    assert "episodes: no turn in it waits for an episode" in cli.done("end-session", "monday").out


def test_the_session_that_ends_may_be_that_of_the_scope(cli: Cli) -> None:
    talk(cli, "--session", "monday")
    told = cli.done("end-session", "--session", "monday", "--json").json["details"]
    assert (told["session"], len(told["segmented"]["episodes"]), told["segmented"]["turns"]) == ("monday", 1, 6)
    assert list(told) == ["session", "segmented", "extracted", "reinforced", "reviewed"]


def test_a_session_must_be_named(cli: Cli) -> None:
    cli.done("remember", "anything")
    ran = cli("end-session")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: session: None is not allowed; expected the name of a session, here or in the scope\n"


# ── sleep ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def awake(opened: Open) -> None:
    """Working memory of March 2026, of two sources."""
    memory = opened("mnemosyne")
    for text in ALIKE:
        memory.remember(text, source="talk")
    memory.remember("The cat is called Tom", source="diary")


@pytest.mark.usefixtures("awake")
def test_sleep_prints_the_summaries_with_their_ids(cli: Cli) -> None:
    told = cli.done("sleep", "--preset", "mnemosyne").out
    assert f"sleep: promoted 4 rows of working memory to 2 memories ({NO_MODEL})" in said(told)
    assert ("from 3 memories (aaak)" in told, "from 1 memory (as it is)" in told) == (True, True)
    [identifier] = [line.split()[0] for line in told.splitlines() if "aaak" in line]
    shown = cli.done("show", identifier, "--json").json
    assert (shown["memory"]["tier"], len(shown["relations"])) == ("episodic", 3)


@pytest.mark.usefixtures("awake")
def test_a_dry_run_of_sleep_changes_nothing(cli: Cli) -> None:
    before = cli.done("recent", "--json").json
    told = said(cli.done("sleep", "--dry-run", "--preset", "mnemosyne").out)
    assert "sleep: would promote 4 rows of working memory to 2 memories" in told
    assert cli.done("recent", "--json").json == before


@pytest.mark.usefixtures("awake")
def test_sleep_as_json_has_the_summarised_memories_and_the_method(cli: Cli) -> None:
    told = cli.done("sleep", "--preset", "mnemosyne", "--json").json["details"]
    assert sorted((len(one["sources"]), one["by"]) for one in told["slept"]) == [(1, "as it is"), (3, "aaak")]
    assert (told["stand_in"], told["dry_run"], told["reason"]) == (NO_MODEL, False, "")


def test_a_preset_without_sleep_says_so(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert cli.done("sleep").out == "sleep: preset default does not consolidate working memory\n"


# ── consolidate ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def alike(opened: Open) -> None:
    memory = opened("engram")
    for text in ALIKE:
        memory.remember(text)


@pytest.mark.usefixtures("alike")
def test_consolidating_replaces_similar_memories_by_one(cli: Cli) -> None:
    told = cli.done("consolidate", "--preset", "engram").out
    assert f"clusters: put 1 memory in the place of 3 alike ({NO_MODEL})" in said(told)
    assert "from 3 memories (most central text)" in told
    assert cli.done("stats", "--json").json["memories"] == {"active": 1, "compacted": 3}


@pytest.mark.usefixtures("alike")
def test_consolidating_asks_the_model_that_is_set(cli: Cli, server: LlmServer) -> None:
    server.always = {"title": "The database of staging", "summary": "Staging has a PostgreSQL database."}
    told = cli.done("consolidate", "--preset", "engram", "--llm", "openai:m").out
    assert "from 3 memories (openai:m)" in told
    assert [memory["text"] for memory in cli.done("recent", "--json").json["memories"]] == [
        "Staging has a PostgreSQL database."
    ]
    [asked] = server.asked
    assert all(text in asked.said for text in ALIKE)


@pytest.mark.usefixtures("alike")
def test_consolidating_as_json_has_its_parts(cli: Cli) -> None:
    told = cli.done("consolidate", "--preset", "engram", "--json").json["details"]
    assert (told["facts"], told["rules"], told["compaction"], told["reason"]) == (None, None, None, "")
    assert len(told["clusters"]["consolidated"][0]["sources"]) == 3


def test_a_preset_that_consolidates_nothing_says_so(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert cli.done("consolidate", "--preset", "mnemosyne").out == "preset mnemosyne has no consolidation\n"


# ── maintain ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_maintain_reports_for_each_job_its_work_or_why_there_was_none(cli: Cli) -> None:
    talk(cli, turns=1)
    lines = cli.done("maintain").out.splitlines()
    assert lines == [
        "index: no embedder: lexical recall only, as asked for",
        "segment: no stream has enough turns or was inactive for long enough",
        "compact: there are no near-duplicates",
        "retain: preset default does not archive events",
        "health: took 1 snapshot: 100.0, green",
    ]


def test_a_job_that_is_not_due_reports_its_time_unless_it_is_forced(cli: Cli) -> None:
    cli.done("remember", "anything")
    cli.done("maintain")
    assert "compact: not due before 20" in cli.done("maintain").out
    assert "compact: there are no near-duplicates" in cli.done("maintain", "--force").out


def test_a_job_that_the_preset_does_not_have_says_so(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert cli.done("maintain", "--only", "facts").out == "facts: preset default does not extract facts\n"


def test_each_job_is_described_in_json_in_the_same_way(cli: Cli) -> None:
    cli.done("remember", "anything")
    told = cli.done("maintain", "--json").json["jobs"]
    assert list(told) == ["index", "segment", "compact", "retain", "health"]
    assert {tuple(one) for one in told.values()} == {("done", "failed", "left", "reason", "details")}


def test_a_job_that_fails_ends_with_3_and_delays_no_other(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ModelUnavailable("it is down")

    cli.done("remember", "anything")
    monkeypatch.setattr("remembrancer.jobs.sweeps.compact", broken)
    ran = cli("maintain")
    assert (ran.code, "compact: broke off: it is down" in ran.out, "health: took" in ran.out) == (3, True, True)
    stand = cli.done("jobs").out
    assert stand.splitlines()[-1] == "compact: broke off: it is down"


def test_maintain_forms_episodes_with_the_model_that_is_set(cli: Cli, server: LlmServer) -> None:
    lines = [
        f'{{"text": "The worker of the checkout needs more memory, {n}", "occurred_at": "2026-03-04T09:{n:02}:00Z"}}'
        for n in range(20)
    ]
    cli.done("observe", "--stdin", "--session", "monday", stdin="\n".join(lines).encode())
    title = "The checkout worker needs memory"
    segments = [
        {"first": 1, "last": 12, "title": title, "summary": "The worker needs it.", "surprise": "low"},
        {"first": 13, "last": 20, "title": title, "summary": "It needs still more.", "surprise": "high"},
    ]
    server.answers = [{"segments": segments}]
    told = cli.done("maintain", "--preset", "plastmem", "--llm", "openai:m", "--only", "segment").out
    assert told == "segment: formed 1 episode of 12 turns, 1 summarised by openai:m\n"
    [episode] = cli.done("timeline", "--preset", "plastmem", "--json").json["memories"][:1]
    assert (episode["kind"], episode["title"], episode["text"]) == ("episode", title, "The worker needs it.")


# ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("preset", ["default", "crewship", "teaparty", "plastmem", "engram", "mnemosyne"])
def test_the_table_of_jobs_has_a_line_a_job_on_80_columns(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    talk(cli, "--preset", preset)
    ran = cli.done("maintain", "--preset", preset, "--json").json["jobs"]
    monkeypatch.setenv("COLUMNS", "80")
    head, *lines = [line.rstrip() for line in cli.done("jobs", "--preset", preset).out.splitlines()]
    assert head.split() == ["job", "last", "run", "next", "(UTC)", "waits", "did"]
    assert [line.split()[0] for line in lines] == list(ran)
    assert [line for line in lines if "just now" not in line or len(line) > 80] == []


def test_before_the_first_run_every_job_is_due(cli: Cli) -> None:
    talk(cli)
    lines = cli.done("jobs").out.splitlines()
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["index", "never", "due", "0"],
        ["segment", "never", "due", "6"],
    ]


def test_the_jobs_as_json(cli: Cli) -> None:
    talk(cli)
    cli.done("maintain", "--only", "compact")
    told = {one["job"]: one for one in cli.done("jobs", "--json").json["jobs"]}
    assert list(told) == ["index", "segment", "compact", "retain", "health"]
    assert told["segment"] == {"job": "segment", "last": None, "next_run": None, "backlog": 6, "failures": []}
    last = told["compact"]["last"]
    assert list(last) == ["started_at", "seconds", "done", "failed", "left", "reason", "error"]
    assert told["compact"]["next_run"] > last["started_at"]


def test_a_failure_is_shown_with_its_reason_and_the_time_of_the_next_attempt(cli: Cli, server: LlmServer) -> None:
    server.always = fails(400, "the prompt is refused")
    talk(cli, "--session", "monday", turns=20)
    arguments = ("--preset", "plastmem", "--llm", "openai:m")
    assert "segment: 1 put off (" in cli.done("maintain", *arguments, "--only", "segment").out
    shown = said(cli.done("jobs", *arguments).out)
    assert "segment: 1 piece of work put off" in shown
    assert '{"session": "monday"}: failed once, tried again from 20' in shown
    assert "the prompt is refused" in shown
    [segment] = [one for one in cli.done("jobs", *arguments, "--json").json["jobs"] if one["job"] == "segment"]
    assert [(one["item"], one["attempts"]) for one in segment["failures"]] == [('{"session": "monday"}', 1)]


# ── spending ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_model_nothing_was_spent(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert cli.done("spending").out == "No request to a language model.\n"
    assert cli.done("spending", "--json").json == {"since": None, "spent": []}


@pytest.mark.usefixtures("alike")
def test_model_calls_are_counted_by_purpose_with_their_price(
    cli: Cli, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMEMBRANCER_LLM_PRICE_INPUT", "1")
    monkeypatch.setenv("REMEMBRANCER_LLM_PRICE_OUTPUT", "2")
    server.always = {"title": "The database of staging", "summary": "Staging has a PostgreSQL database."}
    cli.done("consolidate", "--preset", "engram", "--llm", "openai:m")
    [one] = cli.done("spending", "--json").json["spent"]
    assert (one["model"], one["calls"], one["input_tokens"], one["output_tokens"]) == ("openai:m", 1, 120, 30)
    assert one["cost"] == pytest.approx(180e-6)
    assert "0.0002" in cli.done("spending").out


@pytest.mark.usefixtures("alike")
def test_calls_without_a_known_price_are_counted_separately(cli: Cli, server: LlmServer) -> None:
    server.always = {"title": "The database of staging", "summary": "Staging has a PostgreSQL database."}
    cli.done("consolidate", "--preset", "engram", "--llm", "openai:m")
    assert "1 unpriced" in cli.done("spending", "--since", "1h").out


# ── promote ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def recurring(opened: Open) -> None:
    """A lesson that came up in three sessions of a project."""
    memory = opened("teaparty", project="shop", agent="ana")
    for job in range(3):
        memory.scoped(session=f"job-{job}").remember(LESSON + "!" * job, kind="procedural", tier="semantic")


@pytest.mark.usefixtures("recurring")
def test_a_learning_that_recurred_in_many_tasks_is_listed_and_shared_when_approved(cli: Cli) -> None:
    arguments = ("--preset", "teaparty", "--project", "shop")
    promotes = cli.done("maintain", *arguments, "--only", "promote").out
    assert promotes == "promote: promoted 1 learning to its project\n"
    told = cli.done("promote", *arguments).out
    assert "3 jobs" in told
    [candidate] = cli.done("promote", *arguments, "--json").json["candidates"]
    assert candidate["memory"]["id"][-8:] in told
    assert "for" in cli.done("promote", candidate["memory"]["id"], *arguments).out
    promoted = cli.done("promote", candidate["memory"]["id"], *arguments, "--json").json
    assert (promoted["scope"]["project"], promoted["text"].startswith(LESSON)) == (None, True)


def test_promote_reports_that_nothing_recurred_often_enough(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert cli.done("promote", "--preset", "teaparty").out == "No learning occurs in enough jobs.\n"
    assert cli.done("promote", "--preset", "teaparty", "--json").json == {"candidates": []}


def test_a_preset_that_promotes_nothing_says_so(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert cli.done("promote").out == "This preset does not look for recurring learnings.\n"


# ── stage ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stage_is_entered_once_and_learnings_of_the_previous_one_retire(cli: Cli, folder: Path, opened: Open) -> None:
    (folder / "INTENT.md").write_text(DESIGN, encoding="utf-8")
    arguments = ("stage", "INTENT.md", "--preset", "teaparty", "--project", "shop")
    project = opened("teaparty", project="shop")
    assert cli.done(*arguments).out == "the project entered design\n"
    learned = project.remember(LESSON, kind="procedural", metadata={"domain": "task", "phase": "design"})
    assert cli.done(*arguments).out == "design: the project is in stage design already\n"
    (folder / "INTENT.md").write_text(REVIEW, encoding="utf-8")
    lines = cli.done(*arguments).out.splitlines()
    assert lines == [
        "the project entered review",
        "design has ended: 1 learning for its tasks retired",
        f"    {learned.id}",
    ]
    assert cli.done("show", str(learned.id), "--project", "shop", "--json").json["memory"]["status"] == "retired"


def test_an_intent_that_names_no_stage_is_reported(cli: Cli, folder: Path) -> None:
    (folder / "INTENT.md").write_text("Hello.\n", encoding="utf-8")
    cli.done("remember", "anything")
    told = cli.done("stage", "INTENT.md", "--preset", "teaparty", "--project", "shop").out
    assert told == "unknown stage: the text does not show the stage\n"


def test_a_stage_needs_a_memory_that_is_there(cli: Cli, folder: Path) -> None:
    (folder / "INTENT.md").write_text(DESIGN, encoding="utf-8")
    ran = cli("stage", "INTENT.md")
    assert (ran.code, "no such file" in ran.err) == (3, True)


# ── reviews ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_show_prints_how_the_use_of_a_memory_was_rated(cli: Cli, opened: Open, clock: FixedClock) -> None:
    def rates(_: object) -> Any:
        return {"ratings": [{"memory": "m1", "rating": "good"}]}

    memory = opened("plastmem", llm=ScriptedModel(rates), session="monday")
    tea = memory.remember("Ana drinks green tea")
    clock.advance(timedelta(days=2))
    memory.mark([tea.id], "retrieved", query="what does she drink?")
    clock.advance(timedelta(hours=1))
    memory.observe("Then I will brew her some")
    memory.end_session()
    told = cli.done("show", str(tea.id)).out
    assert ("1 review" in told, "good, 2026-03-06" in told, "days, difficulty" in told) == (True, True, True)
    [review] = cli.done("show", str(tea.id), "--json").json["reviews"]
    assert (review["rating"], review["by"]) == ("good", "scripted:model")


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("consolidate", "--limit", "0"), "limit: 0 "),
        (("consolidate", "--limit", "10001"), "limit: 10001 "),
        (("consolidate", "--since", "whenever"), "since: 'whenever' "),
        (("spending", "--since", "whenever"), "since: 'whenever' "),
        (("maintain", "--only", "sleepwalk"), "only: 'sleepwalk' "),
        (("worker", "--only", "sleepwalk"), "only: 'sleepwalk' "),
        (("worker", "--only", "sleep"), "only: 'sleep' "),
        (("promote", "abc"), "memory_id: 'abc' "),
        (("promote", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"), "no memory 01981c0e"),
        (("promote", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f", "--to", "everybody"), "to: 'everybody' "),
        (("stage", "nowhere.md"), "file: 'nowhere.md' "),
        (("end-session", ""), "session: '' "),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_that_names_it_and_ends_with_2(cli: Cli, arguments: tuple[str, ...], named: str) -> None:
    cli.done("remember", "anything")
    ran = cli(*arguments)
    errors = [line for line in ran.err.splitlines() if not line.startswith("working on ")]
    assert (ran.code, ran.out, len(errors)) == (2, "", 1)
    assert errors[0].startswith(f"error: {named}")

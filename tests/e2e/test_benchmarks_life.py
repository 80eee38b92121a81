"""A made-up life and the whole pipeline: the benchmarks' own scripts at a small size, and what the audit must find."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.event import Origin
from remembrancer.domain.memory import Memory
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.engine.record import observe
from remembrancer.engine.segment import segment
from remembrancer.ports.store import Store
from remembrancer.presets.plastmem import PLASTMEM

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.life_audit import Audit, Rows, audit, read  # noqa: E402
from benchmarks.life_days import Exchange, Question, make_life  # noqa: E402

Figures = dict[str, Any]
SCOPE = Scope(workspace="life", agent="ana", session="monday")


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def lives(out: Path) -> dict[str, Figures]:
    presets = ("default", "plastmem", "mnemosyne")
    sizes = ("--events", "500", "--round-minutes", "60", "--embedder", "none")
    done = run("life", *sizes, "--json", "--out", str(out), "--presets", *presets)
    assert not done.returncode, done.stderr
    return {one["preset"]: one for one in json.loads(done.stdout)}


def total(life: Figures, measure: str) -> int:
    return sum(day.get(measure, 0) for day in life["days"])


def test_a_life_has_as_many_events_as_requested() -> None:
    life = make_life(777)
    assert sum(len(one.step.drafts) for one in life.actions if isinstance(one.step, Exchange)) == 777


def test_the_same_life_is_lived_twice() -> None:
    assert make_life(300) == make_life(300)


def test_topics_come_back_on_other_days() -> None:
    asked = [one for one in make_life(20_000).actions if isinstance(one.step, Question)]
    days = {(one.step.topic, one.at.date()) for one in asked if isinstance(one.step, Question)}
    topics = {topic for topic, _ in days}
    assert min(len([day for topic, day in days if topic == one]) for one in topics) > 1


def test_most_texts_are_used_once() -> None:
    life = make_life(20_000)
    assert (life.patterns > 800, life.texts > 15_000) == (True, True)


def test_episodes_are_formed_without_a_model(lives: dict[str, Figures]) -> None:
    life = lives["default"]
    assert (life["model"], total(life, "model calls"), total(life, "episodes") > 5) == ("none", 0, True)


def test_a_model_that_was_out_of_reach_is_made_up_for(lives: dict[str, Figures]) -> None:
    life = lives["plastmem"]
    left = {name: count for name, count in life["waiting"].items() if name.endswith("failures")}
    assert (total(life, "failed") > 0, left) == (True, {})


def test_working_memory_was_summarised(lives: dict[str, Figures]) -> None:
    life = lives["mnemosyne"]
    assert total(life, "summaries") == total(life, "model calls") > 0


def test_no_rule_is_broken(lives: dict[str, Figures]) -> None:
    assert [fault for life in lives.values() for fault in life["audit"]["faults"]] == []


def test_the_fading_of_each_preset_is_drawn(lives: dict[str, Figures], out: Path) -> None:
    drawn = {Path(path).name for life in lives.values() for path in life["pictures"]}
    assert {f"{name}-fading.png" for name in lives} <= drawn == {path.name for path in out.iterdir()}


def test_a_preset_that_is_not_there_is_refused_by_name() -> None:
    done = run("life", "--presets", "nobody", "--events", "10")
    assert (done.returncode, "nobody" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_the_pipeline_goes_through_every_stage() -> None:
    done = run("pipeline", "--sizes", "150", "--runs", "1", "--embedders", "none", "--json")
    assert not done.returncode, done.stderr
    [line] = json.loads(done.stdout)
    assert (set(line["stages"]), line["episodes"] > 0, line["rate"] > 0) == (
        {"record", "index", "segment", "compact", "health"},
        True,
        True,
    )


# ── what the audit must find ─────────────────────────────────────────────────────────────────────────────────────────


def broken(how: Callable[[Rows, Memory], Rows]) -> Audit:
    """The audit of a stream of six turns in one episode, after a row was made wrong."""

    async def steps(store: Store) -> Audit:
        ctx = a_context(store, PLASTMEM)
        session = next(one.session for one in make_life(600).actions)
        drafts = [
            draft
            for one in make_life(600).actions
            if isinstance(one.step, Exchange) and one.session == session
            for draft in one.step.drafts
        ]
        await observe(ctx, SCOPE, drafts)
        await segment(ctx, SCOPE, ended=[SCOPE])
        rows = await read(store, SCOPE)
        formed = next(memory for memory in rows.memories.values() if memory.kind == "episode")
        return audit(how(rows, formed), PLASTMEM, recorded=len(drafts), noted=(), now=ctx.clock())

    return over(STORES["reference"], steps)


def changed(rows: Rows, memory: Memory) -> Rows:
    return replace(rows, memories={**rows.memories, memory.id: memory})


def rules(found: Audit) -> list[str]:
    return [fault.split(":")[0] for fault in found.faults]


def test_rows_as_they_were_written_break_no_rule() -> None:
    assert broken(lambda rows, _: rows).faults == ()


def test_an_event_in_no_episode_is_found() -> None:
    found = broken(lambda rows, episode: replace(rows, provenance={**rows.provenance, episode.id: ()}))
    assert "an admitted event is in exactly one episode" in rules(found)


def test_an_event_in_two_episodes_is_found() -> None:
    def twice(rows: Rows, episode: Memory) -> Rows:
        other = replace(episode, id=UUID(int=1))
        return replace(
            changed(rows, other), provenance={**rows.provenance, other.id: rows.provenance[episode.id]}
        )  # fmt: skip

    assert "an admitted event is in exactly one episode" in rules(broken(twice))


def test_a_missing_event_is_reported() -> None:
    def without(rows: Rows, episode: Memory) -> Rows:
        gone = rows.provenance[episode.id][0]
        return replace(rows, events={one: event for one, event in rows.events.items() if one != gone})

    assert {"every event is in the journal or the archive, once", "streams have no gaps"} <= set(rules(broken(without)))


def test_a_memory_out_of_recall_that_nothing_leads_to_is_found() -> None:
    found = broken(lambda rows, episode: replace(rows, sources={**rows.sources, episode.id: []}))
    assert "what left recall for another memory is led to by it" in rules(found)


def test_a_memory_formed_from_expired_memories_is_reported() -> None:
    def expired(rows: Rows, episode: Memory) -> Rows:
        edge = rows.sources[episode.id][0]
        source = rows.memories[edge.target]
        return changed(rows, replace(source, valid_until=edge.created_at - timedelta(minutes=1)))

    assert rules(broken(expired)) == ["nothing is made of what had expired or was replaced"]


def test_a_memory_seen_by_more_than_its_source_is_found() -> None:
    def private(rows: Rows, episode: Memory) -> Rows:
        source = rows.memories[rows.sources[episode.id][0].target]
        return changed(rows, replace(source, visibility=Visibility.OWN))

    assert rules(broken(private)) == ["a formed memory is seen by no more than each of its sources"]


def test_a_memory_trusted_more_than_its_source_is_found() -> None:
    found = broken(lambda rows, episode: changed(rows, replace(episode, origin=Origin.SYSTEM)))
    assert rules(found) == ["a formed memory is trusted no more than its sources"]


def test_a_memory_that_names_no_source_is_found() -> None:
    def unfounded(rows: Rows, episode: Memory) -> Rows:
        other = replace(episode, id=UUID(int=1), kind="identity")
        return replace(changed(rows, other), provenance={**rows.provenance, other.id: ()})

    assert "what nobody said or wrote names what it was made of" in rules(broken(unfounded))


def test_an_edge_that_leads_nowhere_is_found() -> None:
    def loose(rows: Rows, episode: Memory) -> Rows:
        edge = rows.sources[episode.id][0]
        nowhere = Relation(episode.id, UUID(int=1), RelationKind.DERIVED_FROM, 1.0, edge.created_at)
        return replace(rows, sources={**rows.sources, episode.id: [*rows.sources[episode.id], nowhere]})

    assert "what a formed memory was made of can be reached, down to what was said" in rules(broken(loose))

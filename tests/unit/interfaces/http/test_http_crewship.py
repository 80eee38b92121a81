"""Crewship's routes: its names, its shapes, and what they do to the memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from golden_shapes import misfits
from served import QUIET, Served, asked
from streaming import Live, live

from remembrancer import Event, EventDraft
from remembrancer.domain.validation import JsonValue
from remembrancer.interfaces.http.background import Background
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

TABLE = "routes_crewship.json"
CREWSHIP = replace(QUIET, preset="crewship")
JOURNAL = "/api/v1/journal"
PATIENCE = 20.0
RULE: Scripted = {
    "rules": [{"when": "the saw binds", "do": "reset the fence", "confidence": 0.8, "evidence": [1, 2]}],
}

Steps = Callable[[Served], Awaitable[Any]]


def crewship(steps: Steps, **given: Any) -> Any:
    return asked(steps, settings=CREWSHIP, **given)


async def escalations(served: Served, *texts: str, crew: str = "platform") -> tuple[Event, ...]:
    view = served.memory.scoped(crew=crew, agent="ana")
    return await view.observe_many(EventDraft(text=text, type="peer.escalation") for text in texts)


async def listed(served: Served, **query: object) -> list[str]:
    answer = await served.http.get(JOURNAL, params={name: str(value) for name, value in query.items()})
    assert answer.status_code == 200, answer.text
    return [entry["summary"] for entry in answer.json()["entries"]]


class TestTheJournal:
    def test_an_entry_is_described_in_its_words(self) -> None:
        async def steps(served: Served) -> Any:
            scope = {"project": "web", "crew": "platform", "agent": "ana", "session": "run-1"}
            event = await served.memory.scoped(**scope).observe(
                "Payment is down",
                type="peer.escalation",
                severity="error",
                role="assistant",
                actor="Ana",
                priority="high",
                occurred_at=datetime(2026, 3, 4, 8, 59, 59, 123_987, tzinfo=UTC),
                payload={"state": "pending"},
                refs={"parent_entry_id": "j_1"},
            )
            return event, (await served.http.get(f"{JOURNAL}/{event.id}")).json()

        event, told = crewship(steps)
        assert misfits(TABLE, "entry", told) == []
        assert told == {
            "id": str(event.id),
            "workspace_id": "default",
            "crew_id": "platform",
            "agent_id": "ana",
            "mission_id": "web",
            "ts": "2026-03-04T08:59:59.123Z",
            "entry_type": "peer.escalation",
            "severity": "error",
            "priority": "high",
            "actor_type": "agent",
            "actor_id": "Ana",
            "summary": "Payment is down",
            "payload": {"state": "pending"},
            "refs": {"parent_entry_id": "j_1"},
            "trace_id": "run-1",
            "span_id": None,
            "expires_at": None,
        }

    def test_pages_hang_together_by_their_cursors(self) -> None:
        async def steps(served: Served) -> Any:
            await escalations(served, *(f"{n}" for n in range(5)))
            pages: list[Any] = []
            query: dict[str, Any] = {"limit": 2}
            while "cursor" in query or not pages:
                pages.append((await served.http.get(JOURNAL, params=query)).json())
                query = {"limit": 2} | ({"cursor": c} if (c := pages[-1].get("next_cursor")) else {})
            return pages

        pages = crewship(steps)
        assert [misfits(TABLE, "list", page) for page in pages] == [[], [], []]
        assert [[entry["summary"] for entry in page["entries"]] for page in pages] == [["4", "3"], ["2", "1"], ["0"]]
        assert [page["count"] for page in pages] == [2, 2, 1]
        assert ["next_cursor" in page for page in pages] == [True, True, False]

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ({}, ["call", "loud", "other crew", "quiet"]),
            ({"crew_id": "platform"}, ["loud", "quiet"]),
            ({"crew_ids": "platform,support", "crew_id": "nobody"}, ["loud", "other crew", "quiet"]),
            ({"agent_id": "bob"}, ["other crew"]),
            ({"agent_ids": "ana, bob"}, ["loud", "other crew", "quiet"]),
            ({"mission_id": "web"}, ["quiet"]),
            ({"trace_id": "run-1"}, ["loud"]),
            ({"run_id": "run-1"}, ["loud"]),
            ({"actor_id": "Ana"}, ["loud"]),
            ({"entry_type": "peer.escalation,tool.call"}, ["call", "loud"]),
            ({"exclude_entry_type": "peer.escalation,message"}, ["call"]),
            ({"severity": "warn,error"}, ["loud"]),
            ({"actor_type": "agent,sidecar"}, ["call", "loud"]),
            ({"actor_type": "keeper"}, []),
            ({"priority": "pin"}, ["loud"]),
            ({"since": "2026-03-04T09:00:01Z"}, ["call"]),
            ({"until": "2026-03-04T09:00:01Z"}, ["loud", "other crew", "quiet"]),
            ({"q": "LOUD"}, ["loud"]),
            ({"q": "  ", "crew_id": "", "severity": ","}, ["call", "loud", "other crew", "quiet"]),
        ],
    )
    def test_filters_select_the_named_values(self, query: dict[str, str], found: list[str]) -> None:
        async def steps(served: Served) -> Any:
            platform = served.memory.scoped(crew="platform", agent="ana")
            await platform.scoped(project="web").observe("quiet")
            await platform.scoped(session="run-1").observe(
                "loud", type="peer.escalation", severity="error", role="assistant", actor="Ana", priority="pin"
            )
            await served.memory.scoped(crew="support", agent="bob").observe("other crew")
            await served.memory.observe("call", type="tool.call", role="tool", occurred_at=NOW + timedelta(seconds=1))
            count = (await served.http.get(f"{JOURNAL}/count", params=query)).json()
            return sorted(await listed(served, **query)), count

        told, count = crewship(steps)
        assert told == found
        assert (misfits(TABLE, "count", count), count["total"]) == ([], len(found))

    @pytest.mark.parametrize(
        ("query", "argument"),
        [
            ({"limit": "0"}, "limit"),
            ({"limit": "501"}, "limit"),
            ({"q": "x" * 201}, "q"),
            ({"q": "?!"}, "q"),
            ({"severity": "info,loud"}, "severity"),
            ({"actor_type": "robot"}, "actor_type"),
            ({"entry_type": "Not A Type"}, "entry_type"),
            ({"since": "2026-03-04T09:00:00"}, "since"),
            ({"cursor": "j_1"}, "cursor"),
            ({"crew_id": " x"}, "crew_id"),
            ({"trace_id": "a", "run_id": "b"}, "run_id"),
        ],
    )
    def test_an_invalid_value_is_named_as_it_was_sent(self, query: dict[str, str], argument: str) -> None:
        async def steps(served: Served) -> httpx.Response:
            return await served.http.get(JOURNAL, params=query)

        answer = crewship(steps)
        assert (answer.status_code, answer.json()["argument"]) == (400, argument)

    def test_the_archive_is_listed_where_it_is_requested(self) -> None:
        async def steps(served: Served) -> Any:
            old = NOW - timedelta(days=40)
            drafts = [EventDraft(text=f"chunk {n}", type="exec.output_chunk", occurred_at=old) for n in range(12)]
            await served.memory.observe_many(drafts)
            await served.memory.maintain(["retain"], force=True)
            return len(await listed(served)), len(await listed(served, include_archive="true"))

        assert crewship(steps) == (0, 12)

    def test_an_entry_of_another_workspace_is_not_there(self) -> None:
        async def steps(served: Served) -> int:
            theirs = await served.memory.of_workspace("other").observe("theirs")
            return (await served.http.get(f"{JOURNAL}/{theirs.id}")).status_code

        assert crewship(steps) == 404

    def test_unknown_fields_are_ignored(self) -> None:
        async def steps(served: Served) -> int:
            return (await served.http.get(JOURNAL, params={"workspace_id": "default", "view": "full"})).status_code

        assert crewship(steps) == 200


class TestAPriority:
    def test_is_changed_and_recorded_in_the_journal(self) -> None:
        async def steps(served: Served) -> Any:
            (event,) = await escalations(served, "Payment is down")
            body = {"priority": "pin", "reason": "post-mortem"}
            answer = await served.http.post(f"{JOURNAL}/{event.id}/priority", json=body)
            audit = (await served.http.get(JOURNAL, params={"entry_type": "memory.priority_changed"})).json()["entries"]
            return event, answer, audit, await served.memory.recent()

        event, answer, (audit,), memories = crewship(steps)
        assert (answer.status_code, misfits(TABLE, "priority", answer.json())) == (200, [])
        assert answer.json() == {
            "id": str(event.id),
            "priority": "pin",
            "previous": "normal",
            "reason": "post-mortem",
        }
        assert (audit["severity"], audit["actor_type"]) == ("notice", "system")
        assert audit["refs"] == {"parent_entry_id": str(event.id)}
        assert audit["payload"]["reason"] == "post-mortem"
        assert [memory.text for memory in memories] == ["Payment is down"]

    def test_that_is_equal_is_no_change_and_not_recorded(self) -> None:
        async def steps(served: Served) -> Any:
            (event,) = await escalations(served, "Payment is down")
            answer = await served.http.post(f"{JOURNAL}/{event.id}/priority", json={"priority": "normal"})
            return answer.json()["previous"], await listed(served, entry_type="memory.priority_changed")

        assert crewship(steps) == ("normal", [])

    def test_is_no_matter_for_a_key_that_may_only_write(self) -> None:
        async def steps(served: Served) -> Any:
            (event,) = await escalations(served, "Payment is down")
            key = await served.memory.keys.create("agent", "write")
            headers = {"Authorization": f"Bearer {key.token}"}
            answer = await served.http.post(f"{JOURNAL}/{event.id}/priority", json={"priority": "pin"}, headers=headers)
            return answer.status_code, await served.memory.journal.priority_changes(event.id)

        assert crewship(steps) == (403, ())


class TestTheStream:
    def test_sends_entries_in_its_format_and_resumes_after_the_last(self) -> None:
        async def steps(server: Live) -> Any:
            view = server.memory.scoped(crew="platform")
            await view.observe_many(EventDraft(text=f"{n}") for n in range(60))
            async with server.client(f"{JOURNAL}/stream") as client:
                begun = await client.entries(50)
            async with server.client(f"{JOURNAL}/stream", headers={"Last-Event-ID": str(begun[9].id)}) as client:
                (again,) = await client.entries(1)
                return begun[0], again

        first, again = live(steps, preset="crewship")
        assert first.event is None
        told = json.loads(first.data)
        assert (misfits(TABLE, "entry", told), told["summary"]) == ([], "10")
        assert json.loads(again.data)["summary"] == "20"

    def test_keeps_to_its_filters(self) -> None:
        async def steps(server: Live) -> Any:
            await server.memory.scoped(crew="a").observe("one")
            await server.memory.scoped(crew="b").observe("two")
            async with server.client(f"{JOURNAL}/stream", crew_id="b") as client:
                (only,) = await client.entries(1)
                return json.loads(only.data or "")["summary"]

        assert live(steps, preset="crewship") == "two"


class TestHealth:
    def test_of_a_crew_is_the_latest_snapshot(self) -> None:
        async def steps(served: Served) -> Any:
            await escalations(served, "Payment is down", "Payment is up")
            await served.memory.jobs.index_now()
            await served.memory.maintain(["health"], force=True)
            snapshot = await served.memory.health.latest("platform")
            await escalations(served, "after it was taken")
            answer = await served.http.get("/api/v1/memory/health", params={"crew_id": "platform"})
            return snapshot, answer.json()

        snapshot, told = crewship(steps, embedder=HashEmbedder())
        assert misfits(TABLE, "health", told) == misfits(TABLE, "metrics", told["metrics"]) == []
        assert (told["workspace_id"], told["crew_id"]) == ("default", "platform")
        assert told["overall"] == pytest.approx(snapshot.score)
        assert told["computed_at"] == "2026-03-04T09:00:00Z"
        assert told["metrics"]["coverage"] == 100.0
        assert told["metrics"]["efficiency"] is None
        assert list(told["details"]["absent"]) == ["efficiency"]

    def test_without_a_snapshot_is_no_data_and_not_bad(self) -> None:
        async def steps(served: Served) -> Any:
            return (await served.http.get("/api/v1/memory/health")).json()

        told = crewship(steps)
        assert misfits(TABLE, "health", told) == misfits(TABLE, "metrics", told["metrics"]) == []
        assert (told["crew_id"], told["computed_at"], told["overall"]) == (None, None, None)
        assert "no snapshot" in told["details"]["reason"]


class TestASearch:
    def test_finds_entries_with_their_payload_and_notes_apart(self) -> None:
        async def steps(served: Served) -> Any:
            view = served.memory.scoped(crew="platform", agent="ana")
            event = await view.observe(
                "Checkout ran out of memory", type="peer.escalation", payload={"state": "pending"}
            )
            note = await view.remember("Checkout needs more memory", source="CREW.md")
            answer = await served.http.post(
                "/api/v1/memory/search/hybrid?agent=ana", json={"query": "checkout memory", "crew_id": "platform"}
            )
            return event, note, answer.json()

        event, note, told = crewship(steps, embedder=HashEmbedder())
        assert (misfits(TABLE, "hybrid", told), told["count"]) == ([], 2)
        assert [misfits(TABLE, "hit", hit) for hit in told["hits"]] == [[], []]
        by_source = {hit["source"]: hit for hit in told["hits"]}
        episode = by_source["episodic"]["episodic"]
        assert misfits(TABLE, "episodic", episode) == []
        assert (episode["entry_id"], episode["payload"]) == (str(event.id), {"state": "pending"})
        assert by_source["fts"]["fts"] == {
            "id": str(note.id),
            "path": "CREW.md",
            "content": "Checkout needs more memory",
        }

    @pytest.mark.parametrize("embedder", [None, HashEmbedder()])
    def test_of_an_entry_without_a_vector_scores_no_cosine(self, embedder: HashEmbedder | None) -> None:
        async def steps(served: Served) -> Any:
            await served.memory.scoped(crew="platform", agent="ana").observe("ran out of memory", type="exec.command")
            body = {"query": "memory", "crew_id": "platform"}
            return (await served.http.post("/api/v1/memory/search/hybrid?agent=ana", json=body)).json()

        [hit] = crewship(steps, embedder=embedder)["hits"]
        assert (hit["source"], hit["episodic"]["score"]) == ("episodic", 0.0)
        assert hit["score"] > 0

    @pytest.mark.parametrize(
        ("body", "argument"),
        [
            ({"query": "x", "limit": 51}, "limit"),
            ({"query": " "}, "query"),
            ({"query": "x", "scope": "own"}, "scope"),
            ({"query": "x", "scope": "everything"}, "scope"),
            ({}, "query"),
        ],
    )
    def test_that_is_not_allowed_is_named(self, body: dict[str, JsonValue], argument: str) -> None:
        async def steps(served: Served) -> httpx.Response:
            return await served.http.post("/api/v1/memory/search/hybrid", json=body)

        answer = crewship(steps)
        assert (answer.status_code, answer.json()["argument"]) == (400, argument)


async def run(served: Served, **body: object) -> httpx.Response:
    return await served.http.post("/api/v1/consolidate/run", json=body)


async def settled(served: Served) -> None:
    background: Background = served.app.state.background
    async with asyncio.timeout(PATIENCE):
        await background.settled()


async def ends(served: Served) -> list[dict[str, Any]]:
    found = await served.memory.journal.list(types=["system.consolidation_completed"], oldest_first=True)
    return [dict(event.payload) for event in found]


class TestAConsolidation:
    def test_runs_in_the_background_and_the_journal_records_the_result(self) -> None:
        async def steps(served: Served) -> Any:
            await escalations(served, *(f"the saw binds {n}" for n in range(10)))
            answer = await run(served)
            await settled(served)
            begins = await served.memory.journal.list(types=["system.consolidation_triggered"])
            rules = await served.memory.memories(kinds=["memory.consolidated"])
            return answer, begins, await ends(served), rules.memories

        answer, (begin,), (end,), (rule,) = crewship(steps, llm=ScriptedModel(lambda _: RULE))
        told = answer.json()
        assert (answer.status_code, misfits(TABLE, "consolidation", told)) == (202, [])
        assert (told["accepted"], told["triggered"], "note" in told) == (True, True, False)
        assert told["worker_id"].startswith("csd_")
        assert len(told["worker_id"]) == len("csd_") + 16
        assert begin.payload["worker_id"] == end["worker_id"] == told["worker_id"]
        assert begin.payload["since"] == "2026-03-03T09:00:00+00:00"
        assert (end["status"], end["rules_count"], end["entries_scanned"]) == ("ok", 1, 10)
        assert end["rules"] == [str(rule.id)]

    def test_of_one_crew_reads_no_other(self) -> None:
        async def steps(served: Served) -> Any:
            await escalations(served, *(f"the saw binds {n}" for n in range(10)), crew="wood")
            await escalations(served, *(f"the lathe hums {n}" for n in range(11)), crew="metal")
            await run(served, crew_id="wood")
            await settled(served)
            rules = await served.memory.memories(kinds=["memory.consolidated"])
            return [rule.scope.crew for rule in rules.memories], await ends(served)

        crews, (end,) = crewship(steps, llm=ScriptedModel(lambda _: RULE))
        assert (crews, end["crew_id"], end["entries_scanned"]) == (["wood"], "wood", 10)

    def test_looks_back_as_far_as_requested(self) -> None:
        async def steps(served: Served) -> Any:
            drafts = [
                EventDraft(text=f"the saw binds {n}", type="peer.escalation", occurred_at=NOW - timedelta(days=n))
                for n in range(10)
            ]
            await served.memory.observe_many(drafts)
            await run(served, since="1w12h")
            await settled(served)
            return await ends(served)

        (end,) = crewship(steps, llm=ScriptedModel(lambda _: RULE))
        assert end["entries_scanned"] == 8

    def test_without_a_model_reports_it_and_does_nothing(self) -> None:
        async def steps(served: Served) -> Any:
            await escalations(served, *(f"the saw binds {n}" for n in range(10)))
            answer = await run(served)
            return answer, await ends(served)

        answer, (end,) = crewship(steps)
        told = answer.json()
        assert (answer.status_code, misfits(TABLE, "consolidation", told)) == (202, [])
        assert (told["accepted"], told["triggered"]) == (True, False)
        assert told["note"].startswith("no summarizer")
        assert end["status"] == "skipped-no-summarizer"

    def test_while_one_runs_is_refused(self) -> None:
        async def steps(served: Served) -> Any:
            await escalations(served, *(f"the saw binds {n}" for n in range(10)))
            first = await run(served)
            second = await run(served)
            await settled(served)
            third = await run(served)
            await settled(served)
            return [answer.status_code for answer in (first, second, third)]

        assert crewship(steps, llm=ScriptedModel(lambda _: RULE)) == [202, 409, 202]

    def test_that_the_server_s_end_interrupts_is_reported(self) -> None:
        async def steps(served: Served) -> Any:
            await escalations(served, *(f"the saw binds {n}" for n in range(10)))
            background: Background = served.app.state.background
            before = (await served.memory.journal.recorded(limit=0)).position
            async with background:
                await run(served)
                await served.memory.journal.wait(before)
            return await ends(served)

        class Hanging(ScriptedModel):
            async def answer(self, task: Any) -> Any:
                await asyncio.Event().wait()

        (end,) = crewship(steps, llm=Hanging(lambda _: RULE))
        assert end["status"] == "interrupted"

    def test_of_a_crew_that_is_not_there_is_not_found(self) -> None:
        async def steps(served: Served) -> int:
            return (await run(served, crew_id="nobody")).status_code

        assert crewship(steps, llm=ScriptedModel(lambda _: RULE)) == 404

    @pytest.mark.parametrize("since", ["", "24", "-1h", "0s", "1y", "9999999999w", "1h 30m", "x" * 1_000])
    def test_a_length_of_time_that_is_none_is_refused(self, since: str) -> None:
        async def steps(served: Served) -> httpx.Response:
            return await run(served, since=since)

        answer = crewship(steps, llm=ScriptedModel(lambda _: RULE))
        assert (answer.status_code, answer.json()["argument"]) == (400, "since")

    def test_entries_about_memory_operations_are_remembered_under_no_preset(self) -> None:
        async def steps(served: Served) -> Any:
            await run(served)
            await settled(served)
            return await served.memory.recent(), await served.memory.journal.count()

        memories, entries = asked(steps, llm=ScriptedModel(lambda _: RULE), clock=FixedClock())
        assert (memories, entries) == ((), 2)

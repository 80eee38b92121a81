from __future__ import annotations

from uuid import UUID

import pytest
from driver import Cli
from prepared import Prepare

from remembrancer.domain.identity import short_id


@pytest.fixture
def ids(cli: Cli, prepared: Prepare) -> dict[str, str]:
    """The ids of three memories, each by a word."""
    told = {
        "memory": ("Checkout needs 2 GiB of memory", "--kind", "decision", "--tag", "ops", "--at", "2026-03-04"),
        "deploy": ("Deploys of checkout are on Monday", "--source", "wiki", "--at", "2026-03-05T09:30:00Z"),
        "lunch": ("Lunch is at noon", "--tier", "episodic", "--session", "office", "--at", "1d"),
    }
    return prepared(
        lambda: {name: cli.done("remember", *arguments, "--json").json["id"] for name, arguments in told.items()}
    )


def found(cli: Cli, *arguments: str) -> list[str]:
    return [hit["memory"]["id"] for hit in cli.done("recall", *arguments, "--json").json["hits"]]


def test_recall_prints_hits_with_their_ids(cli: Cli, ids: dict[str, str]) -> None:
    ran = cli.done("recall", "how much memory does checkout need?")
    assert "Checkout needs 2 GiB of memory" in ran.out
    assert ids["memory"][-8:] in ran.out
    assert ran.err.strip() == "degraded: dense: no embedder: lexical recall only, as asked for"


def test_an_explained_recall_says_which_part_of_the_question_was_searched(cli: Cli) -> None:
    cli.done("remember", "checkout needs 2 GB of memory")
    ran = cli.done("recall", "Can you remind me how much memory checkout needs?", "--explain")
    assert "Searched (fact): how much memory checkout needs?" in ran.out
    assert "Searched" not in cli.done("recall", "how much memory does checkout need?", "--explain").out


def test_an_explained_recall_says_how_a_name_was_read(cli: Cli) -> None:
    cli.done("observe", "Checkout needs more memory", "--actor", "Katharina")
    cli.done("remember", "Katharina: Moss", "--tag", "alias")
    answer = cli.done("recall", "What did Moss say about checkout?", "--json").json
    assert [(name["name"], name["speaker"], name["match"]) for name in answer["names"]] == [
        ("Moss", "Katharina", "learned")
    ]
    ran = cli.done("recall", "What did Moss say about checkout?", "--explain")
    said_in = short_id(UUID(answer["names"][0]["said_in"]))
    assert f"Moss was read as Katharina (memory {said_in} says so)" in " ".join(ran.out.split())


def test_recall_explains_its_scores(cli: Cli, ids: dict[str, str]) -> None:
    ran = cli.done("recall", "how much memory does checkout need?", "--explain")
    hit = cli.done("recall", "how much memory does checkout need?", "--json").json["hits"][0]
    assert hit["explanation"]["reason"] in ran.out
    for name, added in hit["explanation"]["groups"].items():
        assert f"{name} " in ran.out
        assert f"{added:.3f}" in ran.out
    assert "█" in ran.out
    assert "bm25" not in ran.out
    assert hit["explanation"]["parts"]["contribution"] == hit["score"]
    assert hit["memory"]["id"] == ids["memory"]


def test_recall_shows_the_signals_of_its_scores(cli: Cli, ids: dict[str, str]) -> None:
    ran = cli.done("recall", "how much memory does checkout need?", "--signals")
    hit = cli.done("recall", "how much memory does checkout need?", "--json").json["hits"][0]
    for part in hit["explanation"]["parts"]["parts"]:
        assert (f"{part['label']} " in ran.out) == (part["value"] is not None)
    assert "absent" not in ran.out
    assert "lexical rank 1" in ran.out
    assert "bm25 " in ran.out
    assert " ".join(hit["explanation"]["matched"]) in ran.out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--kind", "decision"), {"memory"}),
        (("--kind", "decision", "--kind", "note"), {"memory", "deploy"}),
        (("--tag", "ops"), {"memory"}),
        (("--tag", "ops", "--tag", "other"), set[str]()),
        (("--source", "wiki"), {"deploy"}),
        (("--tier", "semantic"), {"memory", "deploy"}),
        (("--tier", "working"), set[str]()),
        (("--since", "2026-03-05"), {"deploy"}),
        (("--until", "2026-03-05"), {"memory"}),
        (("--since", "1h"), set[str]()),
        (("--as-of", "2020-01-01"), set[str]()),
        (("--in-session", "office"), set[str]()),
        (("--reach", "workspace"), {"memory", "deploy"}),
        (("--min-score", "1"), set[str]()),
        (("--floor", "off", "--min-score", "1"), set[str]()),
        (("--limit", "1"), {"memory"}),
    ],
)
def test_recall_filters(cli: Cli, ids: dict[str, str], options: tuple[str, ...], expected: set[str]) -> None:
    assert set(found(cli, "memory of checkout", *options)) == {ids[name] for name in expected}


def test_the_scopes_session_and_the_filter_are_two_things(cli: Cli, ids: dict[str, str]) -> None:
    assert found(cli, "lunch", "--session", "elsewhere") == [ids["lunch"]]
    assert found(cli, "lunch", "--in-session", "elsewhere") == []
    assert found(cli, "lunch", "--session", "office", "--reach", "session") == [ids["lunch"]]


def test_recall_says_when_nothing_answers(cli: Cli, ids: dict[str, str]) -> None:
    assert "No memory answers that." in cli.done("recall", "zebra").out
    assert cli.done("recall", "zebra", "--render").out == ""
    assert cli.done("recall", "zebra", "--render", "--json").json["rendered"] == ""
    assert ids


def test_recall_renders_a_block_within_its_budget(cli: Cli, ids: dict[str, str]) -> None:
    block = cli.done("recall", "checkout", "--render").out
    assert block.startswith("<recalled-memory>\n")
    assert block.endswith("</recalled-memory>\n")
    short = cli.done("recall", "checkout", "--render", "--max-chars", "280", "--json").json["rendered"]
    assert len(short) <= 280
    assert short.count("\n- ") == 1
    assert cli("recall", "checkout", "--render", "--max-chars", "10").code == 2
    assert ids


def test_a_rendered_block_has_the_requested_detail(cli: Cli) -> None:
    cli.done("remember", "It needs 2 GiB", "--title", "Checkout's memory")
    assert "Checkout's memory: It needs 2 GiB\n" in cli.done("recall", "checkout", "--render").out
    assert "Checkout's memory\n" in cli.done("recall", "checkout", "--render", "--detail", "none").out
    refused = cli("recall", "checkout", "--render", "--detail", "all")
    assert (refused.code, "detail" in refused.err) == (2, True)


def test_recent_lists_the_newest_first(cli: Cli, ids: dict[str, str]) -> None:
    ran = cli.done("recent")
    shown = [line.strip() for line in ran.out.splitlines()[1::2]]
    assert shown == [f"office · {ids['lunch'][-8:]}", ids["deploy"][-8:], ids["memory"][-8:]]
    assert [memory["id"] for memory in cli.done("recent", "-n", "1", "--json").json["memories"]] == [ids["lunch"]]
    assert [memory["id"] for memory in cli.done("recent", "--days", "2", "--json").json["memories"]] == [ids["lunch"]]
    assert "No memories." in cli.done("recent", "--workspace", "empty").out


def test_a_list_prints_whole_ids_if_asked(cli: Cli, ids: dict[str, str]) -> None:
    assert all(one in cli.done("recent", "--ids").out for one in ids.values())


@pytest.mark.parametrize("command", ["show", "feedback", "mark", "update", "forget", "invalidate"])
def test_a_command_takes_the_short_id_that_a_list_prints(cli: Cli, ids: dict[str, str], command: str) -> None:
    more = {"feedback": ["helpful"], "update": ["--title", "Lunch"]}.get(command, [])
    assert cli.done(command, ids["lunch"][-8:].upper(), *more).out


def test_timeline_counts_the_turns_of_a_conversation(cli: Cli) -> None:
    for text in ("The deploy failed", "I roll it back"):
        cli.done("observe", text, "--session", "outage", "--at", "2026-03-14")
    assert "Saturday 14 March 2026 · outage · 2 turns" in cli.done("timeline").out


def test_timeline_groups_events_by_day_and_session(cli: Cli, ids: dict[str, str]) -> None:
    ran = cli.done("timeline")
    assert ran.out.index("Wednesday 4 March 2026") < ran.out.index("Thursday 5 March 2026")
    assert " · office · 1 memory\n" in ran.out
    assert f"  {ids['deploy'][-8:]}  09:30  note  Deploys of checkout are on Monday" in ran.out
    within = ("timeline", "--since", "2026-03-05", "--until", "2026-03-06", "--limit", "5", "--json")
    assert [memory["id"] for memory in cli.done(*within).json["memories"]] == [ids["deploy"]]
    assert "No memories from that time." in cli.done("timeline", "--until", "2020-01-01").out


def test_show_has_all_there_is(cli: Cli, ids: dict[str, str]) -> None:
    cli.done("observe", "The deploy failed", "--actor", "Ana", "--session", "ops")
    [formed] = cli.done("recall", "who failed?", "--json").json["hits"]
    shown = cli.done("show", formed["memory"]["id"]).out
    assert "workspace default · session ops" in shown
    assert "1 event" in shown
    assert "Ana, " in shown
    details = cli.done("show", formed["memory"]["id"], "--json").json
    assert details["events"][0]["actor"] == "Ana"
    assert details["cues"][0]["event_id"] == details["events"][0]["id"]
    titled = cli.done("remember", "twelve", "--title", "Limit", "--metadata", '{"a": "b"}', "--json").json["id"]
    assert "Limit\ntwelve\n" in cli.done("show", titled).out
    assert ids


def test_why_not_names_the_stage_that_dropped_the_memory(cli: Cli, ids: dict[str, str]) -> None:
    returned = cli.done("why-not", ids["memory"], "memory of checkout").out
    assert returned.startswith("✓ it is returned, at rank 1")
    cut = cli.done("why-not", ids["deploy"], "memory of checkout", "--limit", "1", "--json").json
    assert (cut["returned"], cut["stage"], cut["rank"]) == (False, "below the limit", 2)
    filtered = cli.done("why-not", ids["memory"], "memory of checkout", "--kind", "note").out
    assert filtered.startswith("✗ left out before the search: kinds")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("recall", "x", "--since", "someday"), "since"),
        (("recall", "x", "--since", "2026-03-04T09:00:00"), "no UTC offset"),
        (("recall", "x", "--until", "2026-02-30"), "until"),
        (("recall", "x", "--limit", "0"), "limit"),
        (("recall", "x", "--limit", "many"), "--limit"),
        (("recall", "x", "--tier", "deep"), "tiers"),
        (("recall", "x", "--reach", "far"), "reach"),
        (("recall", "x", "--reach", "own"), "reach"),
        (("recall", ""), "query"),
        (("recall",), "QUERY"),
        (("recent", "--limit", "0"), "limit"),
        (("show", "01981c"), "ID|memory_id"),
        (("show", "01981c0e"), "no memory whose id ends with 01981c0e"),
        (("show", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"), "no memory"),
        (("recall", "x", "--preset", "unheard"), "preset"),
        (("recall", "x", "--embedder", "unheard"), "embedder"),
        (("recall", "x", "--role", ""), "role"),
        (("recall", "x", "--config", "missing.toml"), "config"),
        (("recall", "x", "--colour", "red"), "--colour"),
        (("juggle",), "juggle"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    cli: Cli, ids: dict[str, str], arguments: tuple[str, ...], named: str
) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert line.startswith("error: ")
    assert any(name in line for name in named.split("|"))
    assert ids


def test_a_rendered_answer_begins_with_the_pinned_memories(cli: Cli) -> None:
    preset = ("--preset", "teaparty")
    cli.done("remember", "We deploy on Mondays only.", "--tag", "institutional", *preset)
    cli.done("remember", "The deploy script needs a token.", *preset)
    out = cli.done("recall", "deploy", "--render", *preset).out
    assert out.index("Mondays") < out.index("token")


@pytest.mark.parametrize("option", [("--detail", "high"), ("--max-chars", "100")])
def test_options_of_a_block_are_refused_without_a_block(cli: Cli, option: tuple[str, str]) -> None:
    ran = cli("recall", "deploy", *option)
    assert (ran.code, "--render" in ran.err) == (2, True)


def use(cli: Cli, memory: str) -> dict[str, int]:
    usage = cli.done("show", memory, "--json").json["memory"]["strength"]["usage"]
    return {counted: usage[counted] for counted in ("retrieved", "shown", "used")}


def test_under_engram_a_recall_counts_the_printed_memories(cli: Cli, ids: dict[str, str]) -> None:
    cli.done("recall", "how much memory does checkout need?", "--preset", "engram", "--limit", "1")
    assert use(cli, ids["memory"]) == {"retrieved": 1, "shown": 1, "used": 0}
    assert use(cli, ids["lunch"]) == {"retrieved": 0, "shown": 0, "used": 0}


def test_a_recall_that_is_asked_not_to_counts_nothing(cli: Cli, ids: dict[str, str]) -> None:
    cli.done("recall", "how much memory does checkout need?", "--preset", "engram", "--no-mark")
    assert use(cli, ids["memory"]) == {"retrieved": 0, "shown": 0, "used": 0}


def test_under_the_default_preset_a_recall_counts_where_it_is_asked_to(cli: Cli, ids: dict[str, str]) -> None:
    cli.done("recall", "how much memory does checkout need?")
    assert use(cli, ids["memory"]) == {"retrieved": 0, "shown": 0, "used": 0}
    cli.done("recall", "how much memory does checkout need?", "--mark")
    assert use(cli, ids["memory"]) == {"retrieved": 1, "shown": 1, "used": 0}


def test_a_recall_counts_only_the_hits_that_its_block_has_room_for_as_shown(cli: Cli, ids: dict[str, str]) -> None:
    cli.done("recall", "checkout", "--preset", "engram", "--render", "--max-chars", "300")
    counts = [use(cli, ids[name]) for name in ("memory", "deploy")]
    assert [count["retrieved"] for count in counts] == [1, 1]
    assert sum(count["shown"] for count in counts) == 1


SAID = ("observe", "The payment worker ran out of memory", "--as", "tool", "--actor", "grafana")


@pytest.mark.parametrize(
    "command", ["recent", "timeline", "decay", "fading --within 365d", "recall payment", "presets compare payment"]
)
def test_the_speaker_is_shown_wherever_a_memory_is_listed(cli: Cli, command: str) -> None:
    cli.done(*SAID)
    assert "grafana" in cli.done(*command.split()).out


def test_a_memory_names_who_spoke_with_the_role(cli: Cli) -> None:
    cli.done(*SAID)
    [memory] = cli.done("recent", "--json").json["memories"]
    assert (memory["actor"], memory["role"]) == ("grafana", "tool")
    assert "grafana, tool" in cli.done("show", memory["id"]).out


def test_a_note_names_no_speaker(cli: Cli, ids: dict[str, str]) -> None:
    memory = cli.done("show", ids["memory"], "--json").json["memory"]
    assert (memory["actor"], memory["role"]) == (None, None)

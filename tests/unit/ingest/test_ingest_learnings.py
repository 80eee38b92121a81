from __future__ import annotations

from datetime import date
from pathlib import Path
from uuid import UUID

import pytest

from remembrancer import InvalidInput
from remembrancer.domain.learning import Domain, Learning, LearningType
from remembrancer.domain.memory import Status
from remembrancer.ingest import Format, Problem, detect, learnings, tags_of

ONE = "6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11"
TWO = "6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b12"


def written(folder: Path, text: str, name: str = "MEMORY.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def entry(identifier: str = ONE, fields: str = "", text: str = "Run the migrations before the deploy.") -> str:
    return f"---\nid: {identifier}\n{fields}---\n{text}\n"


def problem(path: Path) -> Problem:
    (found,) = learnings(path)
    assert isinstance(found, Problem)
    return found


def test_every_field_of_a_header_is_read(tmp_path: Path) -> None:
    fields = (
        "type: corrective\ndomain: task\nimportance: 0.8\nreinforcement_count: 3\nlast_reinforced: '2026-03-01'\n"
        "status: retired\nphase: design\ncreated_at: 2026-02-01\nsession_id: s-7\nsession_task: Fix the build\n"
        "promoted_from: job-2\n"
    )
    assert list(learnings(written(tmp_path, entry(fields=fields)))) == [
        Learning(
            id=UUID(ONE),
            text="Run the migrations before the deploy.",
            type=LearningType.CORRECTIVE,
            domain=Domain.TASK,
            importance=0.8,
            reinforcement_count=3,
            last_reinforced=date(2026, 3, 1),
            status=Status.RETIRED,
            phase="design",
            created_at=date(2026, 2, 1),
            session_id="s-7",
            session_task="Fix the build",
            promoted_from="job-2",
        )
    ]


def test_defaults_of_a_header_are_procedural_for_the_team_and_of_middling_importance(tmp_path: Path) -> None:
    assert list(learnings(written(tmp_path, entry()))) == [
        Learning(id=UUID(ONE), text="Run the migrations before the deploy.")
    ]


def test_a_file_holds_several_learnings(tmp_path: Path) -> None:
    path = written(tmp_path, f"{entry()}\n{entry(TWO, text='Ask before force-pushing.')}")
    assert [one.id for one in learnings(path) if isinstance(one, Learning)] == [UUID(ONE), UUID(TWO)]


def test_a_rule_inside_a_text_stays_a_rule(tmp_path: Path) -> None:
    path = written(tmp_path, entry(text="Before.\n\n---\n\nAfter."))
    (found,) = learnings(path)
    assert isinstance(found, Learning)
    assert found.text == "Before.\n\n---\n\nAfter."


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (entry(fields="importance: 7\n"), 3, "importance: 7 is not allowed"),
        (entry(fields="type: hunch\n"), 3, "type: 'hunch' is not allowed"),
        (entry(fields="colour: red\n"), 3, "one of the fields"),
        (entry(fields="created_at: soon\n"), 3, "a day"),
        (entry(fields="created_at: 2026-13-45\n"), 2, "month must be in 1..12"),
        (entry(identifier="seven"), 2, "id: 'seven' is not allowed"),
        ("---\ntype: corrective\n---\nNo id.\n", 1, "id: None is not allowed"),
        (entry(fields="phase: [design\n"), 4, "not YAML"),
        ("---\nid: open\n", 1, "not closed"),
        (entry(text=""), 1, "text"),
        ("Only prose.\n", 1, "no header"),
    ],
)
def test_a_bad_header_is_reported_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    found = problem(written(tmp_path, text))
    assert (found.line, said in found.message) == (line, True), found


def test_a_bad_header_leaves_its_neighbours_in(tmp_path: Path) -> None:
    path = written(tmp_path, f"{entry(fields='importance: 7' + chr(10))}\n{entry(TWO)}")
    assert [type(one) for one in learnings(path)] == [Problem, Learning]


def test_an_alias_in_a_header_cannot_grow_without_end(tmp_path: Path) -> None:
    nested = "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    found = problem(written(tmp_path, entry(fields=f"a0: &a0 [x]\n{nested}")))
    assert "its aliases stand for more than 100,000 values" in found.message


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"---\nid: \xff\n---\n")
    with pytest.raises(InvalidInput, match="UTF-8"):
        list(learnings(path))


def test_a_file_of_learnings_is_distinguished_from_a_chat(tmp_path: Path) -> None:
    path = written(tmp_path, entry(fields="type: corrective\n"))
    chat = written(tmp_path, "---\ntitle: Standup\n---\n**Ana:** Good morning\n", "chat.md")
    assert (detect(path), detect(chat)) == (Format.LEARNINGS, Format.MARKDOWN)


def test_an_institutional_file_is_in_every_answer(tmp_path: Path) -> None:
    assert (tags_of(tmp_path / "institutional.md"), tags_of(tmp_path / "MEMORY.md")) == (("institutional",), ())


@pytest.mark.parametrize("value", ["!!int ''", "!!bool maybe", "!!timestamp soon", "[" * 30_000])
def test_a_value_that_does_not_fit_its_tag_or_is_nested_deeply_is_a_problem(tmp_path: Path, value: str) -> None:
    assert "the header is not YAML" in problem(written(tmp_path, entry(fields=f"importance: {value}\n"))).message


def test_aliases_that_stand_for_too_many_values_are_a_problem(tmp_path: Path) -> None:
    grown = ", ".join(f"&a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))
    told = problem(written(tmp_path, entry(fields=f"type: [&a0 [x, x], {grown}]\n")))
    assert "its aliases stand for more than 100,000 values" in told.message


def test_an_alias_within_what_it_stands_for_is_a_problem(tmp_path: Path) -> None:
    assert "aliases" in problem(written(tmp_path, entry(fields="type: &a [*a]\n"))).message

from __future__ import annotations

from dataclasses import replace
from datetime import date
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.learning import Learning, LearningType
from remembrancer.domain.memory import Status
from remembrancer.policies.vault.files import Edit, FileProblem, new_entry, parsed, with_edits

ONE = UUID("6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11")
TWO = UUID("6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b12")

TEXTS = st.lists(
    st.sampled_from(["---", "\\---", "id: x", "type: corrective", "", "words, ü", "# Heading", "```"]),
    min_size=1,
    max_size=9,
).map("\n".join)


def an_entry(identifier: UUID, body: str, extra: list[str], end: str, blank: bool) -> str:
    lines = ["---", f"id: {identifier}", *extra, "---", *([""] if blank else []), *body.split("\n"), "", ""]
    return end.join(lines)


ENTRIES = st.builds(
    an_entry,
    st.uuids(),
    st.sampled_from(["Words.", "Before.\n\n---\n\nAfter.", "- a\n- b", "Words.\n\n\\---\nid: x"]),
    st.lists(
        st.sampled_from(["# a comment", "author:   ana", "importance: 0.50", "phase: 'x'  # y", "files:\n- a\n- b"]),
        unique=True,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


def edit(text: str, *edits: Edit, new: tuple[Learning, ...] = (), path: str = "MEMORY.md") -> str:
    changed = with_edits(parsed(path, text), edits, new)
    assert isinstance(changed, str), changed
    return changed


@given(TEXTS | st.lists(ENTRIES).map("".join))
def test_with_no_edit_a_file_stays_as_it_is(text: str) -> None:
    file = parsed("MEMORY.md", text)
    if not file.findings:
        assert with_edits(file, ()) == text


@given(st.lists(ENTRIES, min_size=1, max_size=4), st.data())
def test_an_edit_of_one_entry_leaves_all_else_byte_for_byte(entries: list[str], data: st.DataObject) -> None:
    file = parsed("MEMORY.md", "".join(entries))
    place = data.draw(st.integers(0, len(entries) - 1))
    counted = replace(file.entries[place].learning, reinforcement_count=7, last_reinforced=date(2026, 3, 4))
    changed = edit(file.text, Edit(place, counted))
    before, after = "".join(entries[:place]), "".join(entries[place + 1 :])
    assert changed.startswith(before)
    assert changed.endswith(after)
    inside = changed[len(before) : len(changed) - len(after)]
    end = "\r\n" if "\r\n" in entries[place] else "\n"
    added = f"reinforcement_count: 7{end}last_reinforced: '2026-03-04'{end}"
    assert inside.replace(added, "") == entries[place]


@given(TEXTS.filter(lambda text: bool(text.strip())), TEXTS.filter(lambda text: bool(text.strip())))
def test_any_text_is_read_back_as_one_text(before: str, after: str) -> None:
    learning = Learning(id=ONE, text=before)
    text = new_entry(learning) + "\n" + new_entry(Learning(id=TWO, text="The next."))
    (first, second) = parsed("MEMORY.md", text).entries
    assert (first.learning.text, second.learning.text) == (before.strip(), "The next.")
    again = parsed("MEMORY.md", edit(text, Edit(0, replace(first.learning, text=after))))
    assert [entry.learning.text for entry in again.entries] == [after.strip(), "The next."]


def test_a_new_entry_has_the_usual_fields_and_those_with_unusual_values() -> None:
    learning = Learning(id=ONE, text="Ask first.", type=LearningType.DIRECTIVE, phase="design", tags=("git",))
    assert new_entry(learning) == (
        f"---\nid: {ONE}\ntype: directive\ndomain: team\nimportance: 0.5\nreinforcement_count: 0\nstatus: active\n"
        "phase: design\ntags: [git]\n---\nAsk first.\n"
    )


def test_a_new_entry_is_appended_after_a_blank_line_with_the_files_own_line_ends() -> None:
    text = f"# Ours\r\n\r\n---\r\nid: {ONE}\r\n---\r\nAsk first."
    changed = edit(text, new=(Learning(id=TWO, text="Ask\ntwice."),))
    assert changed.startswith(f"{text}\r\n\r\n---\r\nid: {TWO}\r\n")
    assert changed.endswith("---\r\nAsk\r\ntwice.\r\n")


def test_an_empty_file_takes_a_first_entry() -> None:
    assert edit("", new=(Learning(id=ONE, text="Ask first."),)) == new_entry(Learning(id=ONE, text="Ask first."))


def test_text_before_the_first_header_is_prose() -> None:
    text = f"# Ours\n\nWhy we keep these.\n\n---\nid: {ONE}\n---\nAsk first.\n"
    file = parsed("MEMORY.md", text)
    assert [text[span.start : span.end] for span in file.prose] == ["# Ours\n\nWhy we keep these.\n\n"]


@pytest.mark.parametrize(
    "text", ["---\ntitle: A page\n---\nWords.\n", "# Page\n\n---\nNote: a rule\n", "Words.\n\n---\nid: 7\n---\nMore.\n"]
)
def test_a_page_with_other_headers_is_a_document(text: str) -> None:
    file = parsed("docs/page.md", text)
    assert (file.entries, file.findings, len(file.prose)) == ((), (), 1)


def test_a_file_of_another_name_with_a_learnings_header_holds_learnings() -> None:
    file = parsed("docs/page.md", f"---\nid: {ONE}\n---\nAsk first.\n")
    assert [entry.learning.id for entry in file.entries] == [ONE]


def test_a_rule_that_looks_like_a_header_is_reported_and_belongs_to_the_text_before_it() -> None:
    file = parsed("MEMORY.md", f"---\nid: {ONE}\n---\nBefore.\n\n---\nNote: after.\n")
    assert file.entries[0].learning.text == "Before.\n\n---\nNote: after."
    assert [(finding.line, r"\---" in finding.message) for finding in file.findings] == [(6, True)]


def test_entries_without_an_id_get_the_same_one_each_time_and_twins_get_two() -> None:
    text = "---\ntype: corrective\n---\nAsk first.\n\n---\ntype: corrective\n---\nAsk first.\n"
    first, again = parsed("MEMORY.md", text), parsed("MEMORY.md", text)
    ids = [entry.learning.id for entry in first.entries]
    assert ids == [entry.learning.id for entry in again.entries]
    assert len(set(ids)) == 2
    assert not any(entry.named for entry in first.entries)


def test_an_edit_that_would_not_be_read_as_it_is_meant_is_refused() -> None:
    file = parsed("MEMORY.md", f"---\nid: {ONE}\nphase: &p design\nnote: *p\n---\nAsk first.\n")
    changed = with_edits(file, [Edit(0, replace(file.entries[0].learning, phase="review"))])
    assert isinstance(changed, FileProblem)
    assert "cannot be changed in place" in changed.message


def test_a_status_is_written_in_its_place() -> None:
    text = f"---\nid: {ONE}\nstatus: active # so far\n---\nAsk first.\n"
    learning = replace(parsed("MEMORY.md", text).entries[0].learning, status=Status.RETIRED)
    assert edit(text, Edit(0, learning)) == text.replace("active #", "retired #")


@pytest.mark.parametrize(
    ("fields", "line", "said"),
    [
        ("type: corective", 2, "type: 'corective' is not allowed"),
        ("author: ana\ntype: 'Corrective'", 3, "type: 'Corrective' is not allowed"),
        ("tpye: corrective", 2, "tpye: no field of a learning; expected type"),
        ("reinforcment_count: 2", 2, "reinforcment_count: no field of a learning; expected reinforcement_count"),
        ("type: corrective\nimportence: 0.9", 3, "importence: no field of a learning; expected importance"),
    ],
)
def test_a_header_with_a_typo_is_a_finding_with_its_line_and_field(fields: str, line: int, said: str) -> None:
    file = parsed("notes.md", f"---\n{fields}\n---\nRun the migrations before the deploy.\n")
    (finding,) = file.findings
    assert (finding.line, finding.message.startswith(said), file.entries) == (line, True, ()), finding


@pytest.mark.parametrize("fields", ["type: article", "title: Corrective lenses", "tape: corrective lenses", "date: x"])
def test_a_header_of_something_else_leaves_a_document(fields: str) -> None:
    file = parsed("notes.md", f"---\n{fields}\n---\nRun the migrations before the deploy.\n")
    assert (file.findings, file.entries) == ((), ())


def test_a_custom_field_similar_to_a_known_one_is_kept() -> None:
    file = parsed("notes.md", f"---\nid: {ONE}\ntags: [a]\ntag: b\n---\nRun the migrations.\n")
    assert (file.findings, [entry.learning.id for entry in file.entries]) == ((), [ONE])

"""Tables of the ablation as Markdown, and their places in a page."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality_page import PAGE, markdown, put_into_page

from remembrancer.evaluation.sheet import Sheet

SHEET = Sheet(
    title="untouched",
    columns=("ndcg@10", "difference", "bytes saved"),
    rows=(
        ("full default", ("0.863", "", "")),
        ("without time", ("0.854", "-0.010\n-0.018 to +0.000", "1,603")),
    ),
)


def test_a_table_names_signals_as_code_and_has_intervals_in_brackets() -> None:
    assert markdown(SHEET).splitlines() == [
        "|  | NDCG@10 | difference | bytes saved |",
        "| --- | --- | --- | --- |",
        "| **full default** | .863 |  |  |",
        "| without `time` | .854 | −.010 (−.018 to .000) | 1,603 |",
    ]


def test_a_table_takes_its_marked_place_and_nothing_else_changes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "a\n<!-- one -->\nold\n<!-- end of one -->\nb\n<!-- two -->\nkept\n<!-- end of two -->\n", encoding="utf-8"
    )
    (tmp_path / "one.md").write_text("| new |\n", encoding="utf-8")
    assert put_into_page(tmp_path, page) == ["one"]
    expected = "a\n<!-- one -->\n\n| new |\n\n<!-- end of one -->\nb\n<!-- two -->\nkept\n<!-- end of two -->\n"
    assert page.read_text(encoding="utf-8") == expected


def test_the_page_has_places_for_tables() -> None:
    assert "<!-- end of worth-untouched -->" in PAGE.read_text(encoding="utf-8")

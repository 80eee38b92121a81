from __future__ import annotations

from pathlib import Path

from driver import Cli

TINY = str(Path(__file__).parents[1] / "fixtures" / "locomo" / "tiny.json")


def test_eval_locomo_measures_the_memory_and_the_baselines(cli: Cli, folder: Path) -> None:
    measured = cli.done("eval", "locomo", TINY, "--records", "results", "--json").json
    systems = [row["system"] for row in measured["table"]]
    assert systems[0] == "default"
    assert "bm25" in systems
    assert (folder / "results" / "bm25.jsonl").exists()
    assert not (folder / "remembrancer.db").exists()


def test_eval_locomo_draws_tables(cli: Cli) -> None:
    ran = cli.done("eval", "locomo", TINY, "--no-baselines", "--conversations", "1", "--depth", "20", "--seed", "7")
    assert "recall@5" in ran.out
    assert "[bold]" not in ran.out
    assert cli("eval", "locomo", "missing.json").code == 2
    assert cli("eval").code == 2

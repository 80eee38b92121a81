"""A change of the local embedder's precision, on the command line and in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driver import Cli

from remembrancer import Remembrancer
from remembrancer.interfaces.wire.embedder import DroppedOut, SwitchedOut

MODELS: Any = {"embedder": "local:fp32", "embedder_before": "local:int8"}
OPTIONS = ("--embedder", "local:fp32", "--embedder-before", "local:int8")
CATS = "Cats sleep on the roof of the bakery"


def remember(db: Path) -> None:
    with Remembrancer.open(str(db), embedder="local:int8", settings={"background_index": False}) as memory:
        memory.remember(CATS)
        memory.jobs.index_now()


def test_a_change_of_embedder_is_the_same_on_the_command_line_and_in_python(cli: Cli, tmp_path: Path) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    remember(here)
    remember(there)

    def told(command: str) -> Any:
        return cli.done("embedder", command, "--db", str(here), *OPTIONS, "--json").json

    def found() -> bool:
        """Whether a question by meaning alone finds the memory, with both models loaded or not."""
        return [hit.memory.text for hit in memory.recall("felines napping above a baker's shop")] == [CATS]

    with Remembrancer.open(str(there), **MODELS, settings={"background_index": False}) as memory:
        roles = [space.role.value for space in memory.embedder.change().spaces]
        assert [space["role"] for space in told("change")["spaces"]] == roles == ["answers", "building"]
        assert found()
        assert told("switch") == SwitchedOut.of(memory.embedder.switch()).model_dump(mode="json")
        assert found()
        assert told("rollback") == SwitchedOut.of(memory.embedder.rollback()).model_dump(mode="json")
        assert found()
        assert told("drop") == DroppedOut.of(memory.embedder.drop()).model_dump(mode="json")
    assert cli.done("embedder", "status", "--db", str(here), *OPTIONS).out.count("dropped") == 1


def test_a_calibration_is_printed_as_the_setting_takes_it(cli: Cli) -> None:
    told = cli.done("embedder", "calibrate", "--embedder", "local", "--json").json
    means = [told[part][name] for part in ("vectors", "tokens") for name in ("unrelated", "related")]
    assert told["setting"] == ",".join(f"{mean:.4f}" for mean in means)
    assert (told["model"], told["kept"]) == ("all-MiniLM-L6-v2/int8", None)
    assert told["setting"] in cli.done("embedder", "calibrate", "--embedder", "local").out


def test_no_calibration_is_measured_without_an_embedder(cli: Cli) -> None:
    assert "embedder: 'none' is not allowed" in cli("embedder", "calibrate", "--embedder", "none").err

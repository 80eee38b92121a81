"""Engram's configuration taken over by the command line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from driver import Cli

from remembrancer.config import load

CONFIG = """
episodic:
  mode: embedded
  namespace: project-alpha
  decay_rate: 0.03
embedding:
  provider: gemini
  model: gemini-embedding-001
  key_strategy: round-robin
  api_key: ${GEMINI_API_KEY}
scoring:
  similarity: 0.5
serve: {host: 127.0.0.1, port: 8080}
"""


def written(folder: Path, text: str) -> str:
    file = folder / "config.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_settings_with_the_same_meaning_are_kept(cli: Cli, folder: Path) -> None:
    printed = cli.done("import-config", written(folder, CONFIG)).out
    assert tomllib.loads(printed) == {
        "preset": "engram",
        "embedder": "gemini:gemini-embedding-001",
        "workspace": "project-alpha",
        "embedder_rotation": "round-robin",
        "host": "127.0.0.1",
        "port": 8080,
    }


def test_every_other_key_is_listed_with_its_reason(cli: Cli, folder: Path) -> None:
    told = cli.done("import-config", written(folder, CONFIG), "--json").json
    left_out = {one["key"]: one["reason"] for one in told["left_out"]}
    assert list(left_out) == ["episodic.decay_rate", "embedding.api_key", "scoring.similarity"]
    assert all(left_out.values())


def test_the_written_file_is_one_of_settings(cli: Cli, folder: Path) -> None:
    cli.done("import-config", written(folder, CONFIG), "--out", "settings.toml")
    settings = load(environment={}, file=folder / "settings.toml")
    assert (settings.preset, settings.workspace, settings.port) == ("engram", "project-alpha", 8080)


def test_an_existing_file_is_not_written_over(cli: Cli, folder: Path) -> None:
    (folder / "settings.toml").write_text("mine", encoding="utf-8")
    ran = cli("import-config", written(folder, CONFIG), "--out", "settings.toml")
    assert (ran.code, "--out" in ran.err, (folder / "settings.toml").read_text(encoding="utf-8")) == (2, True, "mine")


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("episodic: {mode: server}", 3, "episodic.mode"),
        ("serve: {port: many}", 2, "port"),
        ("- a list", 2, "FILE"),
        ("a: [", 2, "FILE"),
        ("", 2, "FILE"),
        ("!!int", 2, "FILE"),
    ],
)
def test_a_setting_that_cannot_be_converted_is_an_error(
    cli: Cli, folder: Path, text: str, code: int, named: str
) -> None:
    ran = cli("import-config", written(folder, text))
    assert (ran.code, named in ran.err) == (code, True), ran.err


def test_a_key_without_a_value_is_not_set(cli: Cli, folder: Path) -> None:
    assert "embedder_dim" not in tomllib.loads(
        cli.done("import-config", written(folder, "embedding:\n  dimensions:")).out
    )

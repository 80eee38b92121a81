"""Files of dialogues: accepted input, and errors with their location."""

from __future__ import annotations

import gzip
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.segmentation_data import ALL, load

FOLDER = Path(__file__).parents[2] / "fixtures" / "segmentation"
DIALOGUE: dict[str, Any] = {"dial_id": 1, "utterances": ["a", "b", "c"], "segments": [1, 2], "set": "dev"}


def written(folder: Path, document: Any) -> Path:
    path = folder / "own.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_folder_is_read_file_by_file() -> None:
    errands, other = load(FOLDER)
    assert (errands.name, [one.id for one in errands.dialogues]) == ("errands", ["workshop", "kitchen", "attic"])
    assert (errands.turns, errands.mean_length) == (30, 30 / 7)
    assert other.name == "undivided_parts"


def test_a_part_has_its_own_dialogues() -> None:
    errands = load(FOLDER / "errands.json")[0]
    assert [one.id for one in errands.of("test").dialogues] == ["workshop", "kitchen"]
    assert errands.of("train").dialogues == ()
    assert errands.of(ALL) is errands


def test_baselines_are_set_up_by_train_or_dev_or_all() -> None:
    errands, other = load(FOLDER)
    assert [one.id for one in errands.for_tuning.dialogues] == ["attic"]
    assert other.for_tuning is other


def test_times_and_speakers_are_as_given_or_generated() -> None:
    told, made_up = load(FOLDER / "undivided_parts.json")[0].dialogues
    assert told.speakers == ("Ruth", "Omar", "Ruth")
    assert told.times[2] - told.times[0] == timedelta(minutes=1)
    assert made_up.speakers == ("A", "B", "A", "B")
    assert made_up.times[1] - made_up.times[0] == timedelta(seconds=10)


def test_a_gzipped_file_is_the_same_set(tmp_path: Path) -> None:
    plain = FOLDER / "errands.json"
    packed = tmp_path / "errands.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert load(packed) == load(plain)


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({}, "expected a JSON list"),
        ([], "at least one dialogue"),
        ([1], r"own.json\[0\]: 1 is not allowed; expected a JSON object"),
        ([{**DIALOGUE, "dial_id": None}], r"\[0\].dial_id"),
        ([DIALOGUE, DIALOGUE], r"\[1\].dial_id: '1' .* a different id"),
        ([{**DIALOGUE, "utterances": [1]}], r"utterances\[0\]: 1 .* a string"),
        ([{**DIALOGUE, "segments": [1, 1]}], r"segments: \[1, 1\] .* add up to the 3 utterances"),
        ([{**DIALOGUE, "segments": [0, 3]}], r"segments\[0\]: 0"),
        ([{**DIALOGUE, "utterances": ["a", "b"], "segments": [1, 1]}], "at least 3"),
        ([{**DIALOGUE, "set": "valid"}], r"set: 'valid' .* train, dev, test"),
        ([{**DIALOGUE, "speakers": ["Ana"]}], r"speakers: '1 of them' .* each of the 3 utterances"),
        ([{**DIALOGUE, "times": ["now", "now", "now"]}], r"times\[0\]: 'now'"),
    ],
)
def test_an_invalid_set_of_dialogues_is_refused(document: Any, error: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=error):
        load(written(tmp_path, document))


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (
        (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text(encoding="utf-8").split("## Segmentation")[1]
    )
    example = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert example is not None
    assert load(written(tmp_path, json.loads(example[1])))[0].dialogues[0].lengths == (2, 2)


def test_invalid_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(gzip.compress(b"[]")[:-9])
    with pytest.raises(InvalidInput, match="a JSON file of dialogues"):
        load(path)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a folder with files named"):
        load(tmp_path)

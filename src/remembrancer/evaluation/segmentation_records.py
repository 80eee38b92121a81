"""The records of a segmentation measurement: a folder with the report and one file per set, one dialogue a line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.segmentation_data import Dialogue
from remembrancer.evaluation.segmentation_report import SegmentationReport, as_json
from remembrancer.evaluation.segmentation_summary import Outcome


def write_report(folder: Path, report: SegmentationReport) -> None:
    """Write `report.json`. Raises InvalidInput when it cannot be written."""
    _write(folder, "report.json", json.dumps(as_json(report), indent=2) + "\n")


def write_set(
    folder: Path,
    name: str,
    dialogues: Sequence[Dialogue],
    segmentations: Sequence[Mapping[str, tuple[int, ...]]],
    outcomes: Mapping[str, Sequence[Outcome]],
) -> None:
    """Write `<name>.jsonl`: for each dialogue, the gold segments, and each method's segments and metrics.

    Of a method with several segmentations the first is written. Texts are not written. Raises InvalidInput when the
    file cannot be written.
    """
    lines: list[str] = []
    for place, dialogue in enumerate(dialogues):
        methods: dict[str, JsonValue] = {
            method: {
                "segments": list(segmentations[place][method]),
                "pk": each[place].pk,
                "window_diff": each[place].window_diff,
                "right": each[place].right,
                "told": each[place].predicted,
            }
            for method, each in outcomes.items()
        }
        record: dict[str, JsonValue] = {"id": dialogue.id, "gold": list(dialogue.lengths), "methods": methods}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    _write(folder, f"{name}.jsonl", "".join(lines))


def _write(folder: Path, name: str, text: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput("records", str(folder), f"a folder that can be written to ({error})") from error

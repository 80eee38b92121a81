"""Data sets of dialogues with known segments, in the format of the public data sets for dialogue topic segmentation."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, cast

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput, unreadable
from remembrancer.ingest.fields import as_list, as_object
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.values import dataclass

TRAIN: Final = "train"
DEV: Final = "dev"
TEST: Final = "test"
ALL: Final = "all"
PARTS: Final = (TRAIN, DEV, TEST)

NAMES: Final = (".json", ".json.gz")
"""File name endings that a folder is searched for."""
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_SPACING: Final = timedelta(seconds=10)
_SPEAKERS: Final = ("A", "B")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """One dialogue. `lengths`: of its segments, in turns, in order. `part`: train, dev or test; "" when the file names
    none.

    `times`: the time of each turn; ten seconds apart when the file has none. `speakers`: the speaker of each turn; two
    alternating speakers when the file has none.
    """

    id: str
    texts: tuple[str, ...]
    lengths: tuple[int, ...]
    part: str
    times: tuple[datetime, ...]
    speakers: tuple[str, ...]

    def turns(self) -> tuple[StreamTurn, ...]:
        """The turns as a segmenter reads them, without vectors."""
        said = zip(self.times, self.speakers, self.texts, strict=True)
        return tuple(StreamTurn(at=at, speaker=speaker, text=text) for at, speaker, text in said)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueSet:
    """The dialogues of one file. `sha256`: of its unpacked content."""

    name: str
    sha256: str
    dialogues: tuple[Dialogue, ...]

    @property
    def turns(self) -> int:
        """Number of turns of all dialogues."""
        return sum(len(one.texts) for one in self.dialogues)

    @property
    def mean_length(self) -> float:
        """Mean length of a segment, in turns."""
        return self.turns / sum(len(one.lengths) for one in self.dialogues)

    def of(self, part: str) -> DialogueSet:
        """The dialogues of one part, possibly none; ALL: every dialogue."""
        if part == ALL:
            return self
        return replace(self, dialogues=tuple(one for one in self.dialogues if one.part == part))

    @property
    def for_tuning(self) -> DialogueSet:
        """The part from which baselines take their parameters: train, else dev, else all dialogues."""
        for part in (TRAIN, DEV):
            if (chosen := self.of(part)).dialogues:
                return chosen
        return self


def load(path: Path) -> tuple[DialogueSet, ...]:
    """Read the set in a file, or the sets in a folder's files, ordered by file name.

    A file holds a JSON list, gzipped or not. Each dialogue has `dial_id`, `utterances`, `segments` (number of
    utterances of each), and optionally `set` (train, dev or test), `speakers` and `times` (ISO 8601 with an offset).
    Raises InvalidInput naming the file, location, value and what is allowed.
    """
    if path.is_dir():
        files = sorted(one for one in path.iterdir() if one.is_file() and one.name.endswith(NAMES))
        if not files:
            raise InvalidInput(
                "path", str(path), f"a folder with files named {' or '.join(f'*{end}' for end in NAMES)}"
            )
        return tuple(_read(one) for one in files)
    return (_read(path),)


def _read(path: Path) -> DialogueSet:
    try:
        raw = path.read_bytes()
        content = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        document: object = json.loads(content)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise unreadable("path", path, "a JSON file of dialogues, gzipped or not", error) from error
    dialogues = [_dialogue(f"{path}[{place}]", one) for place, one in enumerate(as_list(str(path), document))]
    if not dialogues:
        raise InvalidInput("path", str(path), "a file with at least one dialogue")
    ids = [one.id for one in dialogues]
    for place, one in enumerate(ids):
        if one in ids[:place]:
            raise InvalidInput(f"{path}[{place}].dial_id", one, "a different id for each dialogue")
    name = path.name.removesuffix(".gz").removesuffix(".json")
    return DialogueSet(name=name, sha256=hashlib.sha256(content).hexdigest(), dialogues=tuple(dialogues))


def _dialogue(where: str, value: object) -> Dialogue:
    held = as_object(where, value)
    texts = _texts(f"{where}.utterances", held.get("utterances"))
    segments = [
        validation.whole(f"{where}.segments[{at}]", one, 1, len(texts))
        for at, one in enumerate(as_list(f"{where}.segments", held.get("segments")))
    ]
    if sum(segments) != len(texts) or len(texts) < 3:
        allowed = f"lengths that add up to the {len(texts)} utterances, of which there are at least 3"
        raise InvalidInput(f"{where}.segments", segments, allowed)
    part = held.get("set", "")
    if part not in ("", *PARTS):
        raise InvalidInput(f"{where}.set", part, ", ".join(PARTS))
    identifier = held.get("dial_id")
    if not isinstance(identifier, str | int) or isinstance(identifier, bool):
        raise InvalidInput(f"{where}.dial_id", identifier, "a string or a whole number")
    return Dialogue(
        id=str(identifier),
        texts=tuple(texts),
        lengths=tuple(segments),
        part=cast("str", part),
        times=_times(where, held.get("times"), len(texts)),
        speakers=_speakers(where, held.get("speakers"), len(texts)),
    )


def _times(where: str, value: object, turns: int) -> tuple[datetime, ...]:
    if value is None:
        return tuple(_EPOCH + _SPACING * place for place in range(turns))
    given = _texts(f"{where}.times", value, turns)
    return tuple(validation.parse_moment(f"{where}.times[{at}]", one) for at, one in enumerate(given))


def _speakers(where: str, value: object, turns: int) -> tuple[str, ...]:
    if value is None:
        return tuple(_SPEAKERS[place % 2] for place in range(turns))
    return tuple(_texts(f"{where}.speakers", value, turns))


def _texts(where: str, value: object, count: int | None = None) -> list[str]:
    """The strings of a list, of which there must be `count`."""
    given = [_text(f"{where}[{at}]", one) for at, one in enumerate(as_list(where, value))]
    if count is not None and len(given) != count:
        raise InvalidInput(where, f"{len(given)} of them", f"one for each of the {count} utterances")
    return given


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(where, value, "a string")
    return value

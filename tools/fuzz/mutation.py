"""Changing inputs at random, with regard to their grammar: JSON values in documents of JSON, words and lines in texts."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from random import Random
from typing import Any, Final, cast

_LONG: Final = "x" * 300
HOSTILE: Final = (
    *(
        "\x00",
        "\x1b[2J",
        "\u202e",
        "\u200b",
        "\u2028",
        "\x85",
        "\r\n",
        "\ufeff",
        "\ud800",
        "ſ",
        "İ",
        "ß",
        "½",
        "٣",
        "　",
    ),
    *(
        "</recalled-memory>",
        "<recalled-memory>",
        "```",
        "---",
        "\n- ",
        "{{7*7}}",
        "%s%n",
        "'; --",
        "../../x",
        "[" * 200,
    ),
    *("9" * 400, "-1", "1e309", "NaN", "0x1f", "9999-12-31T23:59:59+00:00", "0001-01-01", "2024-02-30", "24:00", _LONG),
)
"""Texts that parsers of any kind get wrong."""
_VALUES: Final[tuple[Any, ...]] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        2**63,
        10**400,
        1e308,
        float("inf"),
        float("nan"),
        "",
        "x",
        _LONG,
        "\ud800",
        "\x00",
    ),
    *([], {}, [[]], [None], {"": None}, {"a": {"b": [1]}}, "2026-03-02T09:00:00Z", "0001-01-01T00:00:00+23:59"),
)
_DEEP: Final = 40


def mutated(data: bytes, random: Random, words: Sequence[str], others: Sequence[bytes] = ()) -> bytes:
    """The input with one to four changes. `others`: inputs to take parts from."""
    for _ in range(random.choice((1, 1, 2, 4))):
        data = _once(data, random, words, others)
    return data


def _once(data: bytes, random: Random, words: Sequence[str], others: Sequence[bytes]) -> bytes:
    roll = random.random()
    if roll < 0.15:
        return _bytes_changed(data, random)
    if data[:1] in {b"{", b"["} and roll < 0.75:
        lines = data.split(b"\n")
        place = random.randrange(len(lines))
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            try:  # a document of JSON lines
                value = json.loads(lines[place])
            except (ValueError, RecursionError):
                return _text_changed(data, random, words, others)
            lines[place] = _json(_value_changed(value, random, words))
            return b"\n".join(lines)
        return _json(_value_changed(value, random, words))
    return _text_changed(data, random, words, others)


def _json(value: object) -> bytes:
    try:
        return json.dumps(value).encode()
    except (ValueError, RecursionError):
        return b"null"


def _bytes_changed(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 8))):
        place = random.randrange(len(changed) + 1)
        match random.randrange(3):
            case 0:
                changed[place:place] = random.randbytes(random.choice((1, 2, 8)))
            case 1:
                del changed[place : place + random.choice((1, 2, 8, 64))]
            case _ if place < len(changed):
                changed[place] = random.choice((changed[place] ^ (1 << random.randrange(8)), random.randrange(256)))
            case _:
                pass
    return bytes(changed)


def _text_changed(data: bytes, random: Random, words: Sequence[str], others: Sequence[bytes]) -> bytes:
    """Insert a word, replace a part by one, repeat or delete a part, or take a part of another input."""
    start = random.randrange(len(data) + 1)
    end = min(len(data), start + random.choice((0, 0, 1, 4, 16, 64)))
    match random.randrange(6):
        case 0:
            middle = data[start:end] * random.choice((2, 2, 3, 50))
        case 1:
            middle = b""
        case 2 if others:
            other = random.choice(others)
            begin = random.randrange(len(other) + 1)
            middle = other[begin : begin + random.choice((8, 64, 512))]
        case 3:
            middle = random.choice(HOSTILE).encode("utf-8", "surrogatepass")
        case _:
            middle = random.choice(words or HOSTILE).encode("utf-8", "surrogatepass")
    return data[:start] + middle + data[end:]


def _value_changed(value: Any, random: Random, words: Sequence[str]) -> Any:
    """The JSON value with one of its values, at a random place, replaced, left out, repeated or renamed."""
    whole = [copy.copy(value)]
    holder: Any = whole
    key: Any = 0
    for _ in range(_DEEP):
        inner: Any = holder[key]
        if not inner or not isinstance(inner, dict | list) or random.random() < 0.2:
            break
        holder[key] = holder = copy.copy(cast("Any", inner))
        key = random.choice([*cast("Any", inner)] if isinstance(inner, dict) else range(len(cast("Any", inner))))
    match random.randrange(8):
        case 0 if holder is not whole:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[_word(random, words)] = cast("Any", holder).pop(key)
        case 2 if isinstance(holder, dict):
            holder[_word(random, words)] = random.choice(_VALUES)
        case 3 if holder is not whole and isinstance(holder, list):
            cast("Any", holder).append(cast("Any", holder)[key])
        case 4:
            holder[key] = [holder[key]]
        case 5 | 6:
            old = cast("Any", holder)[key]
            text = old.encode("utf-8", "surrogatepass") if isinstance(old, str) else b""
            holder[key] = _text_changed(text, random, words, ()).decode("utf-8", "surrogateescape")
        case _:
            holder[key] = random.choice(_VALUES)
    return whole[0]


def _word(random: Random, words: Sequence[str]) -> str:
    return random.choice(words or HOSTILE)

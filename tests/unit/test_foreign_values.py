"""Whatever a method is given, it raises errors of the package only, and soon."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from remembrancer import AsyncRemembrancer, InvalidInput, Remembrancer, RemembrancerError, Settings
from remembrancer.config import MAX_FILE_BYTES, load
from remembrancer.domain import validation
from remembrancer.facade.view import View
from remembrancer.interfaces.mnemosyne import Mnemosyne

QUIET = Settings(db=":memory:", background_index=False, embedder="none")
NOUNS: Final = ("journal", "health", "jobs", "keys", "learnings", "presets", "vault")
LEFT_OUT: Final = {"open", "close", "noun", "work", "tail"}
"""Not called: what opens and closes, and what runs until it is cancelled."""
FREE: Final = {"on_rows", "on_pages", "on_run", "on_indexed"}
"""Functions that are called back: one that cannot be called is a TypeError, as everywhere in Python."""
SECONDS: Final = 30


class Indescribable:
    def __repr__(self) -> str:
        raise RuntimeError("it has no repr")


def nested(depth: int, *, named: bool = False) -> Any:
    value: Any = "the end"
    for _ in range(depth):
        value = {"inner": value} if named else [value]
    return value


BAD: Final[dict[str, Any]] = {
    "a list nested 1,000 deep": nested(1_000),
    "an object nested 1,000 deep": nested(1_000, named=True),
    "a list nested 100,000 deep": nested(100_000),
    "a number beyond all floats": 10**400,
    "a number of 5,000 digits": 10**5_000,
    "no number": float("nan"),
    "bytes": b"bytes",
    "an object": object(),
    "an object without a repr": Indescribable(),
    "a list of objects": [object()],
    "a lone surrogate": "\ud800",
    "after the year 9999": datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-14))),
    "before the year 1": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
    "the last moment": datetime.max.replace(tzinfo=UTC),
    "the longest time": timedelta.max,
}
USUAL: Final[dict[str, Any]] = {
    "text": "Checkout needs 2 GiB",
    "query": "checkout",
    "type": "a.b",
    "name": "named",
    "events": [],
    "kind": "similar",
    "said": "helpful",
    "token": "rem_" + "A" * 43,
}


def calls(noun: str, api: View, folder: Path) -> Iterator[tuple[str, Any]]:
    """Each method of a class with each of its arguments being bad."""
    usual = {**USUAL, "folder": folder / "vault", "path": folder / "rows.jsonl"}
    for name in sorted(set(dir(api)) - LEFT_OUT):
        # Not through the object: a property could do something.
        function = inspect.getattr_static(api, name)
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        parameters = [
            one
            for one in list(inspect.signature(function).parameters.values())[1:]
            if one.kind is not one.VAR_KEYWORD and one.name not in FREE
        ]
        needed = {
            one.name: usual.get(one.name, "0195b7a0-0000-7000-8000-000000000000")
            for one in parameters
            if one.default is one.empty
        }
        for one in parameters:
            for kind, value in BAD.items():
                told = f"{noun}.{name}({one.name}={kind})"
                yield told, partial(getattr(api, name), **{**needed, one.name: value})


def test_every_method_refuses_foreign_values_with_errors_of_the_package(tmp_path: Path) -> None:
    async def steps() -> dict[str, str]:
        found: dict[str, str] = {}
        async with await AsyncRemembrancer.open(settings=QUIET) as memory:
            views: dict[str, View] = {"rem": memory, **{noun: getattr(memory, noun) for noun in NOUNS}}
            for noun, api in views.items():
                for told, call in calls(noun, api, tmp_path):
                    try:
                        async with asyncio.timeout(SECONDS):
                            answer = call()
                            if inspect.isawaitable(answer):
                                await answer
                    except RemembrancerError:
                        continue
                    except Exception as error:  # noqa: BLE001  what is looked for
                        found[told] = type(error).__name__
        return found

    assert asyncio.run(steps()) == {}


@pytest.mark.parametrize("text", ["a = " + "[" * 5_000 + "]" * 5_000, "a." + "b." * 3_000 + "c = 1"])
def test_a_preset_that_is_nested_deeply_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match="deep"):
        asyncio.run(AsyncRemembrancer.open(settings=QUIET, preset=str(file)))


@pytest.mark.parametrize("setting", ["preset", "config"])
def test_a_file_without_an_end_is_refused(setting: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        _opened(setting, "/dev/zero")
    assert refused.value.allowed == f"a file of at most {MAX_FILE_BYTES:,} bytes"


def _opened(setting: str, file: str) -> None:
    if setting == "config":
        load(environment={"REMEMBRANCER_CONFIG": file})
    else:
        asyncio.run(AsyncRemembrancer.open(settings=QUIET, preset=file))


@pytest.mark.parametrize("high", [1.0, float("inf")])
@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan")])
def test_a_number_that_is_no_float_is_refused(value: float, high: float) -> None:
    with pytest.raises(InvalidInput):
        validation.number("share", value, 0.0, high)


def test_the_last_day_of_all_has_no_day_after_it() -> None:
    with Remembrancer.open(settings=QUIET) as memory, pytest.raises(InvalidInput, match="to_date: '9999-12-31'"):
        Mnemosyne(memory).recall("checkout", to_date="9999-12-31")

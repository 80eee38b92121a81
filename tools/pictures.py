"""Screenshots of every page of the dashboard, for the documentation: light, dark and on a phone.

The memory is six weeks of the demonstration's conversation, recorded day by day with all jobs run each night, at a
clock of its own, so that the same code gives the same pages. Needs Chromium, its driver, and the local embedder.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import uvicorn
from browsing import Page, chromium
from rich.console import Console

from remembrancer import AsyncRemembrancer, EventDraft, Remembrancer, Settings
from remembrancer.interfaces.http.app import Serving, build_app
from remembrancer.jobs.worker import Stop

PICTURES: Final = Path("docs/pictures")
NOW: Final = datetime(2026, 4, 15, 9, tzinfo=UTC)
"""The morning after the history's last day."""
SIZES: Final = {"light": (1280, 800), "dark": (1280, 800), "phone": (390, 844)}
HIGHEST: Final = {"light": 1000, "dark": 1000, "phone": 1100}
"""The greatest height of a picture in pixels: a longer page is cut."""
QUALITY: Final = 72
QUESTION: Final = "What did Mirela say about refunds last month?"
LOADED: Final = "!document.querySelector('[data-waiting]')"
TO_THE_FOUND_TURN: Final = """
const turn = document.querySelector(".transcript .is-told");
turn?.scrollIntoView({ block: "center" });
return turn !== null;
"""
TOLD: Final = (
    ("Ola is allergic to nuts and kiwi: ask before ordering for her.", "preference", True),
    ("Priya wants the status in three lines, before nine o'clock.", "preference", False),
    ("Never restart the label printer during the morning round.", "procedure", True),
    ("Refunds are sent through Pexley, and never by hand.", "decision", False),
)
"""Memories that were told: text, kind, and whether they are pinned."""


@dataclass
class SettableClock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


def remember(file: Path) -> None:
    """Record the history day by day, with all jobs each night, and what somebody told."""
    lines = (files("remembrancer") / "demo" / "history.jsonl").read_text(encoding="utf-8").splitlines()
    turns = [json.loads(line) for line in lines]
    clock = SettableClock(NOW)
    with Remembrancer.open(settings=_settings(file), clock=clock) as rem:
        by_day = {day: list(of_day) for day, of_day in groupby(turns, key=lambda turn: str(turn["occurred_at"])[:10])}
        clock.now = datetime.fromisoformat(f"{min(by_day)}T22:00:00+00:00")
        while clock.now < NOW:
            rem.observe_many([_draft(turn) for turn in by_day.get(clock.now.date().isoformat(), [])])
            rem.jobs.index_now()
            rem.maintain()
            clock.now += timedelta(days=1)
        clock.now = NOW - timedelta(hours=2)
        for text, kind, pinned in TOLD:
            clock.now += timedelta(minutes=1)  # the order of equal times is that of ids, which are random
            told = rem.remember(text, kind=kind, tags=["team"], source="handbook", key=text)
            if pinned:
                rem.pin(told.id)
        rem.jobs.index_now()
        clock.now = NOW
        rem.maintain(["health"], force=True)


def _settings(file: Path) -> Settings:
    return Settings(db=str(file), embedder="local", background_index=False)


def _draft(turn: Mapping[str, Any]) -> EventDraft:
    told: dict[str, Any] = {**turn, "occurred_at": datetime.fromisoformat(turn["occurred_at"])}
    return EventDraft(**told)


@contextmanager
def serving(file: Path) -> Generator[str]:
    """The address of a server over the file, whose clock stands at NOW."""
    ready, servers, stop = threading.Event(), list[uvicorn.Server](), Stop()

    async def run() -> None:
        async with AsyncRemembrancer.open(settings=_settings(file), clock=SettableClock(NOW)) as memory:
            app = build_app(memory, Serving(rate_limit=0), stop)
            servers.append(uvicorn.Server(uvicorn.Config(app, port=0, log_config=None)))
            serve = asyncio.create_task(servers[0].serve())
            while not servers[0].started and not serve.done():  # noqa: ASYNC110 - uvicorn tells nobody
                await asyncio.sleep(0.05)
            ready.set()
            await serve

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    if not ready.wait(60):
        raise SystemExit("the server did not start")
    try:
        yield f"http://127.0.0.1:{servers[0].servers[0].sockets[0].getsockname()[1]}/"
    finally:
        stop.set()
        servers[0].should_exit = True
        thread.join(30)


def addresses(file: Path) -> Mapping[str, str]:
    """The address of each page, by the name of its pictures."""
    with Remembrancer.open(settings=_settings(file), clock=SettableClock(NOW)) as rem:
        hit = next(hit for hit in rem.recall(QUESTION, mark=False) if hit.cue.event_id is not None)
        asked = urlencode({"q": QUESTION})
        return {
            "overview": "/",
            "search": f"/search?{asked}",
            "compare": f"/compare?{asked}",
            "memories": "/memories",
            "memory": f"/memories/{hit.memory.id}",
            "timeline": "/timeline",
            "graph": "/graph",
            "erasures": "/erasures",
            "conversations": "/conversations",
            "conversation": f"/conversations/{hit.cue.event_id}?turn={hit.cue.event_id}",
            "journal": "/journal",
            "preferences": "/preferences",
            "jobs": "/jobs",
            "doctor": "/doctor",
        }


def draw(page: Page, pages: Mapping[str, str], folder: Path, views: Sequence[str]) -> None:
    for name, address in pages.items():
        for view in views:
            scheme = "dark" if view == "dark" else "light"
            page.sized(SIZES[view]).scheme(scheme, motion=False).open(address).until(LOADED)
            width, height = SIZES[view]
            if page.run(TO_THE_FOUND_TURN):
                shot = page.command("Page.captureScreenshot", format="webp", quality=QUALITY)
            else:
                content = page.command("Page.getLayoutMetrics")["cssContentSize"]
                high = min(max(content["height"], height), HIGHEST[view])
                clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
                shot = page.command(
                    "Page.captureScreenshot", format="webp", quality=QUALITY, captureBeyondViewport=True, clip=clip
                )
            (folder / f"{name}-{view}.webp").write_bytes(base64.b64decode(shot["data"]))


def main(only: Sequence[str]) -> None:
    """Draw these pages, or all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "demo.db"
        remember(file)
        pages = {name: path for name, path in addresses(file).items() if not only or name in only}
        with serving(file) as origin, chromium(Path(folder) / "profile") as browser:
            page = Page(browser, origin)
            draw(page, pages, PICTURES, list(SIZES))
            page.listen()
    size = sum(each.stat().st_size for each in PICTURES.glob("*.webp"))
    Console().print(
        f"{len(pages) * len(SIZES)} pictures in {PICTURES}, {size / 1024:,.0f} KiB in all", *page.said, sep="\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

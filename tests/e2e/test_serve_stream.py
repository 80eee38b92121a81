"""The stream of the real program: it sends entries written over HTTP, and ends when the server is asked to stop."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
from server_process import PATIENCE, serving


def test_a_stream_sends_entries_written_over_http_and_ends_when_the_server_is_asked_to_stop(tmp_path: Path) -> None:
    heard: list[str] = []
    with serving(tmp_path / "a.db") as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
        with http.stream("GET", "/v1/events/stream", params={"limit": 0}) as stream:
            for line in stream.iter_lines():
                if line.startswith("retry:"):
                    written = http.post("/v1/events", json={"events": [{"text": "heard live"}]})
                    assert written.status_code == 201, written.text
                elif line.startswith("data:"):
                    heard.append(json.loads(line.removeprefix("data:"))["event"]["text"])
                    server.ask_to_stop()
                elif line.startswith(":"):
                    heard.append(line)
        code = server.ended()
    assert heard == ["heard live", ": the server is stopping"]
    assert code == 0


def test_a_server_asked_to_stop_does_not_wait_for_the_conversations_it_was_telling_in_episodes(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"turn {n}", "timestamp": 1_772_600_000_000 + n} for n in range(200)]
    body = {"conversation_id": "11111111-2222-4333-8444-555555555555", "messages": messages}
    with serving(tmp_path / "a.db", "--preset", "plastmem") as server:
        with httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
            assert http.post("/api/v0/import_batch_messages", json=body).json() == {"accepted": True}
        server.ask_to_stop()
        code = server.ended()
    assert code == 0
    with serving(tmp_path / "a.db", "--preset", "plastmem") as server:
        assert httpx.get(f"{server.url}v1/events/count", timeout=PATIENCE).json() == {"total": 200}

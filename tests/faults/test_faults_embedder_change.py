"""A process that changes the embedder is killed half way; the next one goes on where it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from embedding_server import Embedding, EmbeddingServer, hangs

from remembrancer import Remembrancer

PATIENCE = 60.0
TEXTS = [f"note {each} about the harbour" for each in range(150)]
SETTINGS = {"background_index": False}


def test_after_a_kill_half_way_no_stored_vector_is_made_again_and_questions_are_answered(tmp_path: Path) -> None:
    db, reached = str(tmp_path / "m.db"), threading.Event()

    def stops(call: Embedding) -> None:
        reached.set()
        hangs(call)

    with EmbeddingServer(dim=64) as old, EmbeddingServer(dim=96) as new:
        models = {
            "embedder": "openai:new",
            "embedder_url": new.url,
            "embedder_before": "openai:old",
            "embedder_before_url": old.url,
        }
        earlier = {**SETTINGS, "embedder": "openai:old", "embedder_url": old.url}
        with Remembrancer.open(db, settings=earlier) as memory:
            memory.observe_many([{"text": text} for text in TEXTS])
            memory.jobs.index_now()
        new.once, new.fault = [Embedding.embed] * 4, stops
        variables = {f"REMEMBRANCER_{name.upper()}": value for name, value in models.items()}
        command = [sys.executable, "-m", "remembrancer", "embedder", "change", "--db", db]
        with subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL) as changing:
            assert reached.wait(PATIENCE)
            changing.send_signal(signal.SIGKILL)
        new.fault, new.asked = None, []
        with Remembrancer.open(db, settings={**SETTINGS, **models}) as memory:
            answer = memory.recall("which note is about the harbor?")
            assert answer.degraded == {}
            assert answer.trace.legs["dense"] > 0
            [stored] = [space.vectors for space in memory.embedder.status().spaces if space.model == "openai/new"]
            memory.embedder.change()
            again = Counter(text for call in new.asked for text in call.texts)
            memory.embedder.switch()
            assert memory.recall("which note is about the harbor?").degraded == {}
    assert 0 < stored < len(TEXTS)
    assert (len(again), again.most_common(1)[0][1]) == (len(TEXTS) - stored, 1)

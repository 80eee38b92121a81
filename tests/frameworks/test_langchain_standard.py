"""LangChain's standard tests of retrievers, over a real file."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from remembrancer import Remembrancer
from remembrancer.integrations.langchain import RemembrancerRetriever


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _memory(self, tmp_path: Path) -> Iterator[None]:
        with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none") as memory:
            memory.remember_many([f"Ana took seat {number} on day {number}" for number in range(1, 9)])
            self.memory = memory
            yield

    @property
    def retriever_constructor(self) -> type[RemembrancerRetriever]:
        return RemembrancerRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, object]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "Which seats did Ana take?"

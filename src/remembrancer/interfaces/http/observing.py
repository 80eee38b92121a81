"""What is measured and traced of a recall, for all routes that answer with one."""

from __future__ import annotations

from fastapi import FastAPI

from remembrancer.domain.recall import Recall
from remembrancer.interfaces.http.metrics import Metrics
from remembrancer.interfaces.http.tracing import trace_recall


def observe_recall(app: FastAPI, recall: Recall) -> None:
    """To be called by a route that recalled, before it answers."""
    metrics: Metrics = app.state.metrics
    metrics.recalled(recall)
    trace_recall(recall)

"""Metrics and traces of a recall, for all routes that return one."""

from __future__ import annotations

from fastapi import FastAPI

from remembrancer.domain.recall import Recall
from remembrancer.interfaces.http.metrics import AppMetrics
from remembrancer.interfaces.http.tracing import trace_recall


def observe_recall(app: FastAPI, recall: Recall) -> None:
    """Called by a route after the recall and before it answers."""
    metrics: AppMetrics = app.state.metrics
    metrics.recalled(recall)
    trace_recall(recall)

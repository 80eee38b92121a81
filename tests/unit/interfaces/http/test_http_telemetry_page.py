"""The page of metrics and spans, the alerts and the dashboard name what the server exports, and all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from remembrancer.engine import asking, recall
from remembrancer.interfaces.http.telemetry import AppMetrics

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "telemetry.md").read_text(encoding="utf-8")
ALERTS = (ROOT / "deploy" / "prometheus-alerts.yaml").read_text(encoding="utf-8")
DASHBOARD = (ROOT / "deploy" / "grafana-dashboard.json").read_text(encoding="utf-8")
BY_TYPE = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


def exported() -> dict[str, set[str]]:
    """The names of all time series, with their labels besides those of Prometheus."""
    metrics = AppMetrics()
    found: dict[str, set[str]] = {}
    for metric in vars(metrics).values():
        labels = {str(name) for name in getattr(metric, "_labelnames", ())}
        for family in metric.describe() if hasattr(metric, "describe") else ():
            for suffix in BY_TYPE.get(family.type, ()):
                found[family.name + suffix] = labels
    return found


def names(text: str) -> set[str]:
    return set(re.findall(r"\bremembrancer_[a-z_]+", text))


def documented(series: str) -> str:
    return re.sub(r"_(bucket|sum|count)$", "", series)


def test_there_are_metrics_to_check() -> None:
    assert {"remembrancer_http_requests_total", "remembrancer_recall_seconds_bucket"} <= exported().keys()


def test_the_page_lists_the_exported_metrics_and_no_other() -> None:
    assert names(PAGE) == {documented(series) for series in exported()}


def test_the_page_lists_the_labels_of_each_metric() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `remembrancer_")]
    for series, labels in exported().items():
        (row,) = [one for one in rows if f"`{documented(series)}`" in one]
        assert labels <= set(re.findall(r"`([a-z_]+)`", row)), series


def test_the_alerts_and_the_dashboard_use_exported_metrics_and_labels() -> None:
    known = exported()
    assert names(ALERTS) | names(DASHBOARD) <= known.keys() | {documented(series) for series in known}
    labels = {"job", "instance", "le"}.union(*known.values())
    grouped = re.findall(r"(?:by|ignoring|on) ?\(([^)]*)\)", ALERTS + DASHBOARD)
    matched = re.findall(r'(\w+)=~?\\?"', "".join(re.findall(r"\{[^{}]*\}", ALERTS + DASHBOARD)))
    assert {name.strip() for group in grouped for name in group.split(",")} | set(matched) <= labels


def test_every_metric_is_on_the_dashboard() -> None:
    assert {documented(series) for series in exported()} == {documented(name) for name in names(DASHBOARD)}


def test_the_page_names_every_alert_and_every_panel() -> None:
    alerts = [rule["alert"] for group in yaml.safe_load(ALERTS)["groups"] for rule in group["rules"]]
    panels = [panel["title"] for panel in json.loads(DASHBOARD)["panels"]]
    assert len(alerts) == PAGE.count("| `Remembrancer")
    assert [name for name in alerts if f"| `{name}` |" not in PAGE] == []
    assert [title for title in panels if f"**{title}**" not in PAGE] == []


def test_the_page_names_every_stage_of_a_recall() -> None:
    source = Path(recall.__file__).read_text(encoding="utf-8")
    stages = {*re.findall(r'\blap\("(\w+)"', source), "rescore", "embed", asking.KEY_TERMS}
    row = next(line for line in PAGE.splitlines() if line.startswith("| `recall.STAGE`"))
    assert set(re.findall(r"`([a-z_]+)`", row)) - {"recall"} == stages


def test_the_page_names_the_attributes_of_spans() -> None:
    source = (ROOT / "src/remembrancer/interfaces/http/telemetry.py").read_text(encoding="utf-8")
    attributes = set(re.findall(r'"((?:http|remembrancer)\.[a-z_.]+[a-z])"', source))
    assert attributes
    assert [name for name in attributes if f"`{name}`" not in PAGE] == []

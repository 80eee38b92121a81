"""The verdict of the soak test: which runs exceed a limit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.soak import MOST_GROWTH, QUIET, Sample, Window, slope, verdict

SAMPLES = tuple(
    Sample(
        at=60.0 * minute,
        rss=400.0,
        pss=380.0,
        descriptors=30,
        threads=12,
        database=20.0,
        appended=2.0,
        log=4.0,
        index=3.0,
        cpu=0.3 * minute,
        load=0.5,
    )
    for minute in range(1, 61)
)
WINDOWS = tuple(
    Window(
        begin=5.0 * n, end=5.0 * n + 5, requests=6_000, p50=14.0, p95=70.0, p99=300.0, cpu_ms=15.0, load=0.5, errors=0
    )
    for n in range(12)
)


def exceeded(
    samples: tuple[Sample, ...] = SAMPLES, windows: tuple[Window, ...] = WINDOWS, errors: int = 0
) -> list[str]:
    return [limit.name for limit in verdict(samples, windows, errors) if not limit.is_kept]


def test_a_level_run_keeps_every_limit() -> None:
    assert exceeded() == []


def test_memory_that_grows_after_the_warm_up_exceeds_its_limit() -> None:
    samples = tuple(replace(one, rss=400 + (MOST_GROWTH + 1) * one.at / 3600) for one in SAMPLES)
    assert exceeded(samples) == ["memory, MiB an hour"]


def test_files_that_grow_after_the_warm_up_exceed_their_limit() -> None:
    samples = tuple(replace(one, database=one.at / 60) for one in SAMPLES)
    assert exceeded(samples) == ["size of what may be erased, after the warm-up to within"]


def test_a_log_that_grows_after_the_warm_up_exceeds_its_limit() -> None:
    samples = tuple(replace(one, log=one.at / 60) for one in SAMPLES)
    assert exceeded(samples) == ["size of the log, after the warm-up to within"]


def test_the_log_may_be_as_large_as_the_file_for_a_moment() -> None:
    assert exceeded((*SAMPLES[:-2], replace(SAMPLES[-2], log=60.0), SAMPLES[-1])) == []


def test_the_audit_trail_may_grow() -> None:
    samples = tuple(replace(one, database=20 + one.at / 60, appended=one.at / 60) for one in SAMPLES)
    assert exceeded(samples) == []


def test_files_that_stay_open_exceed_their_limit() -> None:
    samples = tuple(replace(one, descriptors=int(one.at / 60)) for one in SAMPLES)
    assert exceeded(samples) == ["open files, end to warm-up"]


def test_memory_may_grow_within_the_warm_up() -> None:
    assert exceeded(tuple(replace(one, rss=min(400.0, one.at)) for one in SAMPLES)) == []


def test_a_slower_last_window_exceeds_the_limit_of_latency() -> None:
    slower = (*WINDOWS[:-1], replace(WINDOWS[-1], p50=29.0))
    assert exceeded(windows=slower) == ["median latency, last quiet window to first"]


def test_latency_is_not_judged_by_windows_in_which_others_use_the_machine() -> None:
    loaded = (*WINDOWS[:-1], replace(WINDOWS[-1], p50=400.0, load=QUIET + 1))
    assert exceeded(windows=loaded) == []


def test_more_cpu_time_for_each_request_exceeds_its_limit_whatever_the_load() -> None:
    loaded = tuple(replace(one, cpu_ms=one.cpu_ms + one.begin, load=QUIET + 1) for one in WINDOWS)
    assert exceeded(windows=loaded) == ["CPU time a request, last window to second"]


def test_a_failed_request_exceeds_the_limit() -> None:
    assert exceeded(errors=1) == ["requests that failed"]


def test_the_slope_is_that_of_the_regression_line() -> None:
    assert slope([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) == pytest.approx(2.0)
    assert slope([(1.0, 3.0)]) == 0.0

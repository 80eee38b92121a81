"""Retrieval benchmarks anybody can run: a data set, metrics with definitions, baselines, and a report."""

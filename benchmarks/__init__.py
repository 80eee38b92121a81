"""Benchmarks, run by hand with `make bench`; they are not part of the test suite."""

"""Measurements, run by hand with `make bench`; never part of the tests."""

"""Fuzzing of every parser and every door.

A target takes bytes and raises for a finding only. `make fuzz` runs each target under atheris, which mutates inputs and
keeps those that reach new code. The kept inputs are in `corpus/`; the test suite replays them, and a few new ones.
"""

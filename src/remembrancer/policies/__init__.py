"""Decisions as pure functions: the clock, randomness and models' answers are parameters."""

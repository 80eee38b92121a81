"""Scoring, filtering and ordering of candidates."""

"""Combining several memories into one: facts, summaries, merged duplicates, rules."""

"""How several memories become one: facts, summaries, merged duplicates, rules."""

"""How several memories are combined into one: facts, summaries, merged duplicates, rules."""

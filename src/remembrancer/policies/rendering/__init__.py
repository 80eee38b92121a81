"""Rendering memories into prompts: marked as untrusted, within a budget, escaped so that none leaves its block."""

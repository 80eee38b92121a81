"""Rendering memories into prompts: marked as untrusted, within a limit of characters, and escaped."""

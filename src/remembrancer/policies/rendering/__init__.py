"""Memories as text for a prompt: marked as untrusted, within a budget, and never able to leave their place in it."""

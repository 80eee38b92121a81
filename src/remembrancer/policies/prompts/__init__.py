"""Prompts for language models: our instructions, fenced untrusted text, the schema of an answer, and its check."""

"""Rendering memories into prompts: marked as untrusted, within a budget, escaped so that they cannot
leave their block.
"""
